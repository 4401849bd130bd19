// Sources of the grid scheduler, in compile order.
rtl/grid_scheduler/grid_scheduler_regs_pkg.sv
rtl/common/rr_arbiter.sv
rtl/grid_scheduler/grid_scheduler_regs.sv
rtl/grid_scheduler/grid_scheduler_slots.sv
rtl/grid_scheduler/grid_scheduler_pick.sv
rtl/grid_scheduler/grid_scheduler_units.sv
rtl/grid_scheduler/grid_scheduler_progress.sv
rtl/grid_scheduler/grid_scheduler_pipeline.sv
rtl/grid_scheduler/grid_scheduler_gates.sv
rtl/grid_scheduler/grid_scheduler_returned.sv
rtl/grid_scheduler/grid_scheduler.sv
