// Sources of the request ring, in compile order.
rtl/request_ring/request_ring_regs_pkg.sv
rtl/common/rr_arbiter.sv
rtl/request_ring/request_ring_regs.sv
rtl/request_ring/request_ring.sv
