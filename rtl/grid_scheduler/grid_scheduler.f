// Sources of the grid scheduler, in compile order.
rtl/grid_scheduler/grid_scheduler_regs_pkg.sv
rtl/common/rr_arbiter.sv
rtl/grid_scheduler/grid_scheduler.sv
