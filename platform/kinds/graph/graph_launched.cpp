// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_launched.h"

#include <algorithm>
#include <memory>

#include "models/common/error.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/job.h"
#include "sw/collectives/runtime.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace {

constexpr uint64_t kHostStamps = 0x400000;  // In the job's host memory.
constexpr uint64_t kHostStampsOfRank = 0x80000;

class Launched {
 public:
  Launched(HostCore& core, const GraphLaunch& launch, graph_result_t& result)
      : launch_(launch),
        p_(launch.parameters),
        result_(result),
        ops_(host_ops(core)),
        runtime_(core, options()),
        client_(stretto_client_create(&p_.client, &ops_), stretto_client_destroy) {
    if (client_ == nullptr)
      throw UserError("rank " + std::to_string(p_.rank) + ": no driver client");
  }

  uint64_t run() {
    set_up();
    launch_.meet();
    result_.begin_ns = ops_.now_ns(ops_.context);
    for (iteration_ = 0; iteration_ < p_.iterations; ++iteration_) run_iteration();
    ok(api().stream_synchronize(client_.get(), compute_));
    if (p_.ranks > 1) runtime_.expect(cudaStreamSynchronize(nccl_stream_), "cudaStreamSynchronize");
    read_stamps();
    if (p_.ranks > 1) runtime_.expect(ncclCommDestroy(comm_));
    return runtime_.memory_end(p_.rank);
  }

 private:
  const stretto_api_t& api() const { return *client_->api; }
  void ok(stretto_status_t status) const {
    if (status != STRETTO_OK)
      throw_status(status,
                   "rank " + std::to_string(p_.rank) + ": " + api().last_error(client_.get()));
  }
  void ok_comm(stretto_status_t status) const {
    if (status != STRETTO_OK)
      throw_status(status, "rank " + std::to_string(p_.rank) + ": " +
                               nccl_client_->api->last_error(nccl_client_));
  }

  stretto_runtime_options_t options() const {
    stretto_runtime_options_t options =
        runtime_options(launch_.request, "mmio", false, launch_.collective_elf);
    options.accounts = {GRAPH_ACCOUNT_INIT, GRAPH_ACCOUNT_COMM, GRAPH_ACCOUNT_COMM};
    options.client.queue_count = p_.client.first_queue - launch_.request.share.first_queue;
    options.client.memory_end = p_.client.memory_begin;
    return options;
  }

  // Stamps: an operator and iteration a word, then two a bucket and iteration; then semaphores
  // likewise.
  uint64_t op_stamp(uint64_t op) const {
    return words_ + 8 * (iteration_ * launch_.plan.launches.size() + op);
  }
  uint64_t stamps() const {
    return p_.iterations * (launch_.plan.launches.size() + 2 * launch_.plan.buckets.size());
  }
  uint64_t bucket_word(uint64_t base, uint64_t bucket, uint64_t end) const {
    return base + 8 * (2 * (iteration_ * launch_.plan.buckets.size() + bucket) + end);
  }
  uint64_t bucket_stamp(uint64_t bucket, uint64_t end) const {
    return bucket_word(words_ + 8 * p_.iterations * launch_.plan.launches.size(), bucket, end);
  }
  uint64_t semaphore(uint64_t bucket, uint64_t end) const {
    return bucket_word(words_ + 8 * stamps(), bucket, end);
  }

  void set_up() {
    runtime_.expect(cudaSetDevice(static_cast<int>(p_.rank)), "cudaSetDevice");
    void* block = nullptr;
    runtime_.expect(cudaMalloc(&block, p_.arena_bytes + p_.gradient_bytes), "cudaMalloc");
    arena_ = reinterpret_cast<uint64_t>(block);
    if (arena_ != stretto_gpu_address(p_.client.gpu, launch_.arena))
      throw CheckError("rank " + std::to_string(p_.rank) +
                       ": the driver placed the tensors elsewhere");
    ok(api().stream_create(client_.get(), &compute_));
    const uint64_t semaphores = 2 * p_.iterations * launch_.plan.buckets.size();
    const uint64_t bytes = 8 * (stamps() + semaphores);
    ok(api().allocate(client_.get(), compute_, std::max<uint64_t>(bytes, 64), 4096,
                      STRETTO_ALLOCATION_UNCACHED, &words_));
    std::vector<uint64_t> words(stamps() + semaphores);
    std::fill(words.begin() + static_cast<int64_t>(stamps()), words.end(), 1);
    if (bytes != 0) ok(api().copy_to_device(client_.get(), words_, words.data(), bytes));
    stretto_module_t* module = nullptr;
    ok(api().module_load(client_.get(), p_.elf, p_.elf_bytes, &module));
    ok(api().module_kernel(client_.get(), module, "graph_op", &graph_op_));
    ok(api().stream_synchronize(client_.get(), compute_));
    if (p_.ranks > 1) set_up_communicator();
  }

  void set_up_communicator() {
    if (p_.rank == 0) runtime_.expect(ncclGetUniqueId(&launch_.id));
    launch_.meet();
    runtime_.expect(ncclCommInitRank(&comm_, static_cast<int>(p_.ranks), launch_.id,
                                     static_cast<int>(p_.rank)));
    runtime_.expect(cudaStreamCreate(&nccl_stream_), "cudaStreamCreate");
    stretto_stream_t* const stream = stretto_runtime_stream(nccl_stream_, &nccl_client_);
    nccl_driver_stream_ = stream;
    stretto_module_t* module = nullptr;
    ok_comm(nccl_client_->api->module_load(nccl_client_, launch_.stamp_elf.data(),
                                           launch_.stamp_elf.size(), &module));
    ok_comm(nccl_client_->api->module_kernel(nccl_client_, module, "stamp", &stamp_));
  }

  void run_iteration() {
    std::vector<bool> waited(launch_.plan.buckets.size());
    const uint32_t last = last_op();
    for (uint32_t op = 0; op < launch_.plan.launches.size(); ++op) {
      for (const uint32_t bucket : launch_.plan.launches[op].after_buckets) {
        if (waited[bucket] || p_.ranks == 1) continue;
        ok(api().stream_wait(client_.get(), compute_, semaphore(bucket, 1),
                             launch_.request.spec.software.stream_wait_poll_ns));
        waited[bucket] = true;
      }
      launch_op(op);
      for (uint32_t bucket = 0; p_.ranks > 1 && bucket < launch_.plan.buckets.size(); ++bucket) {
        if ((p_.mode == GRAPH_LAUNCHED_AFTER ? last : launch_.plan.buckets[bucket].last_op) == op)
          reduce(bucket);
      }
    }
  }

  // The operator after which no gradient is made any more.
  uint32_t last_op() const {
    uint32_t last = 0;
    for (const GraphPlan::Bucket& bucket : launch_.plan.buckets)
      last = std::max<uint32_t>(last, bucket.last_op);
    return last;
  }

  void launch_op(uint32_t op) {
    loop_arguments_t arguments{};
    arguments.arena = arena_;
    arguments.gradients = arena_ + p_.arena_bytes;
    arguments.stamps = op_stamp(op);
    arguments.iterations = 1;
    arguments.compute = launch_.plan.launches[op].tiles;
    arguments.ranks = p_.ranks;
    arguments.rank = p_.rank;
    arguments.op = op;
    stretto_launch_t what{};
    what.kernel = &graph_op_;
    what.arguments = &arguments;
    what.argument_bytes = sizeof arguments;
    what.work_groups = launch_.plan.launches[op].tiles;
    what.account = GRAPH_ACCOUNT_COMPUTE;
    what.after_all_earlier = 1;
    ok(api().launch(client_.get(), compute_, &what));
  }

  void stamp_bucket(uint32_t bucket, uint64_t end) {
    const stretto_stamp_arguments_t arguments{bucket_stamp(bucket, end)};
    stretto_launch_t what{};
    what.kernel = &stamp_;
    what.arguments = &arguments;
    what.argument_bytes = sizeof arguments;
    what.work_groups = 1;
    what.communication = 1;
    what.after_all_earlier = 1;
    ok_comm(nccl_client_->api->launch(nccl_client_, nccl_driver_stream_, &what));
  }

  void reduce(uint32_t bucket) {
    const GraphPlan::Bucket& what = launch_.plan.buckets[bucket];
    ok(api().signal(client_.get(), compute_, semaphore(bucket, 0), 0));
    ok_comm(nccl_client_->api->stream_wait(nccl_client_, nccl_driver_stream_, semaphore(bucket, 0),
                                           launch_.request.spec.software.stream_wait_poll_ns));
    stamp_bucket(bucket, 0);
    void* const gradients = reinterpret_cast<void*>(arena_ + p_.arena_bytes + what.offset);
    runtime_.expect(ncclAllReduce(gradients, gradients, what.bytes / 2, ncclHalf, ncclSum, comm_,
                                  nccl_stream_));
    stamp_bucket(bucket, 1);
    ok_comm(nccl_client_->api->signal(nccl_client_, nccl_driver_stream_, semaphore(bucket, 1), 0));
  }

  void read_stamps() {
    const uint64_t host = job_host_memory(&p_.job) + kHostStamps + p_.rank * kHostStampsOfRank;
    ok(api().copy(client_.get(), compute_, host, words_, 8 * stamps(), STRETTO_ACCOUNT_OTHER));
    ok(api().stream_synchronize(client_.get(), compute_));
    const auto ns = [&](uint64_t address) {
      return send_engine_load(&ops_, host + (address - words_)) * 1000 / p_.clock_mhz;
    };
    for (iteration_ = 0; iteration_ < p_.iterations; ++iteration_)
      result_.end_ns[iteration_] = ns(op_stamp(launch_.plan.launches.size() - 1));
    iteration_ = p_.iterations - 1;
    for (uint32_t op = 0; op < launch_.plan.launches.size(); ++op)
      result_.op_ns[op] = ns(op_stamp(op));
    for (uint32_t bucket = 0; p_.ranks > 1 && bucket < launch_.plan.buckets.size(); ++bucket) {
      for (uint64_t end = 0; end < 2; ++end)
        result_.bucket_ns[bucket][end] = ns(bucket_stamp(bucket, end));
    }
  }

  const GraphLaunch& launch_;
  const graph_parameters_t& p_;
  graph_result_t& result_;
  const stretto_host_ops_t ops_;
  HostRuntime runtime_;
  std::unique_ptr<stretto_client_t, void (*)(stretto_client_t*)> client_;
  stretto_stream_t* compute_ = nullptr;
  stretto_kernel_t graph_op_{};
  stretto_kernel_t stamp_{};
  uint64_t arena_ = 0, words_ = 0;
  uint64_t iteration_ = 0;
  ncclComm_t comm_ = nullptr;
  cudaStream_t nccl_stream_ = nullptr;
  stretto_stream_t* nccl_driver_stream_ = nullptr;
  stretto_client_t* nccl_client_ = nullptr;
};

}  // namespace

uint64_t run_launched(HostCore& core, const GraphLaunch& launch, graph_result_t& result) {
  result = {};
  return Launched(core, launch, result).run();
}

}  // namespace stretto
