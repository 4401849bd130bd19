// Sources of the MCA, in compile order.
rtl/mca/mca_regs_pkg.sv
rtl/mca/mca_regs.sv
rtl/mca/mca.sv
