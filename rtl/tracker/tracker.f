// Sources of the Tracker, in compile order.
rtl/tracker/tracker_regs_pkg.sv
rtl/tracker/tracker_pkg.sv
rtl/common/rr_arbiter.sv
rtl/tracker/tracker_regs.sv
rtl/tracker/tracker_bank.sv
rtl/tracker/tracker.sv
