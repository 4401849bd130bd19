// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/job.h"
#include "platform/base/installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "models/common/read_file.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace {

HostCore& core_of(void* context) { return *static_cast<HostCore*>(context); }

HostCore::Condition condition_of(stretto_wait_t condition) {
  return condition == STRETTO_WAIT_NOT_EQUAL ? HostCore::Condition::not_equal
                                             : HostCore::Condition::at_least;
}

}  // namespace

stretto_host_ops_t host_ops(HostCore& core) {
  stretto_host_ops_t ops{};
  ops.context = &core;
  ops.write = [](void* context, uint64_t address, const void* data, uint64_t bytes) {
    core_of(context).write(address, data, bytes);
  };
  ops.write_from = [](void* context, uint64_t address, uint64_t host_address, uint64_t bytes) {
    core_of(context).write_from(address, host_address, bytes);
  };
  ops.wait = [](void* context, uint64_t address, stretto_wait_t condition, uint64_t value) {
    return core_of(context).wait_word(address, condition_of(condition), value);
  };
  ops.store = [](void* context, uint64_t address, uint64_t value) {
    core_of(context).store(address, value);
  };
  ops.store_bytes = [](void* context, uint64_t address, const void* data, uint64_t bytes) {
    core_of(context).store_bytes(address, data, bytes);
  };
  ops.wait_any = [](void* context, const stretto_host_word_t* words, uint32_t count,
                    uint64_t until_ns) {
    std::vector<HostCore::Word> all(count);
    for (uint32_t i = 0; i < count; ++i)
      all[i] = {words[i].address, condition_of(words[i].condition), words[i].value};
    const Time until = until_ns == UINT64_MAX ? kNever : until_ns * kNanosecond;
    return static_cast<uint32_t>(core_of(context).wait_any(all, until));
  };
  ops.read = [](void* context, uint64_t address, void* data, uint64_t bytes) {
    core_of(context).read(address, data, bytes);
  };
  ops.peek = [](void* context, uint64_t address, void* data, uint64_t bytes) {
    core_of(context).peek(address, data, bytes);
  };
  ops.poke = [](void* context, uint64_t address, const void* data, uint64_t bytes) {
    core_of(context).poke(address, data, bytes);
  };
  ops.move = [](void* context, uint64_t to, uint64_t from, uint64_t bytes) {
    core_of(context).move(to, from, bytes);
  };
  ops.start_copy = [](void* context, uint64_t to, uint64_t from, uint64_t bytes, uint64_t signal,
                      uint64_t value) {
    core_of(context).start_copy(to, from, bytes, signal, value);
  };
  ops.charge_cpu_ns = [](void* context, uint64_t nanoseconds) {
    core_of(context).charge_ns(nanoseconds);
  };
  ops.lock = [](void* context, uint64_t mutex) { core_of(context).lock(mutex); };
  ops.unlock = [](void* context, uint64_t mutex) { core_of(context).unlock(mutex); };
  ops.sleep = [](void* context, uint64_t mutex) { core_of(context).sleep(mutex); };
  ops.notify = [](void* context, uint64_t mutex) { core_of(context).notify(mutex); };
  ops.code_loaded = [](void* context, uint64_t base, const void* elf, size_t bytes) {
    core_of(context).code_loaded(base, elf, bytes);
  };
  ops.now_ns = [](void* context) { return core_of(context).now() / kNanosecond; };
  return ops;
}

stretto_driver_costs_t driver_costs(const SoftwareSpec& software) {
  return {software.call_ns, software.packet_ns, software.load_ns_per_kib, software.launch_ns,
          software.copy_ns};
}

PhaseRule kernels_of(const Account& account) {
  return {account.name,
          {{Moment::first_dispatch, account.number}},
          {{Moment::last_end, account.number}}};
}

PhaseRule preparation_of(const Account& account) {
  return {account.name,
          {{Moment::first_access, account.number}},
          {{Moment::last_access, account.number}},
          true};
}

PhaseRule work_of(const Account& account) {
  return {account.name,
          {{Moment::first_dispatch, account.number}, {Moment::first_access, account.number}},
          {{Moment::last_end, account.number}, {Moment::last_access, account.number}}};
}

void throw_status(stretto_status_t status, const std::string& message) {
  switch (status) {
    case STRETTO_ERROR_ARGUMENT:
    case STRETTO_ERROR_OVERLAP:
    case STRETTO_ERROR_UNMAPPED:
    case STRETTO_ERROR_TABLE_FULL:
    case STRETTO_ERROR_RESOURCES:
    case STRETTO_ERROR_KERNEL: throw UserError(message);
    default: throw CheckError(message);
  }
}

void check_memory(const JobRequest& request, uint64_t needed, const std::string& largest,
                  uint64_t largest_bytes, const std::string& keys) {
  const uint64_t has = request.share.memory_end - request.share.memory_begin;
  if (needed <= has) return;
  throw UserError(fmt::format(
      "{}: does not fit: it needs {} bytes of each GPU's memory, the most for {}: {}; it has {}, "
      "software.memory_gib is {}{}; make {} smaller or software.memory_gib larger",
      request.subject(), needed, largest, largest_bytes, has, request.spec.software.memory_gib,
      has > uint64_t{request.spec.software.memory_gib} << 29 ? "" : " and shared with other jobs",
      keys));
}

void check_memory(const JobRequest& request, const memory_plan_t& program, uint64_t more,
                  const std::string& keys) {
  const memory_range_t* const largest =
      std::max_element(program.range, program.range + program.ranges,
                       [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  check_memory(request, program.end - request.share.memory_begin + more,
               fmt::format("'{}'", largest->name), largest->bytes, keys);
}

void check_kernels(const std::string& name, std::initializer_list<std::string> kernels) {
  const std::vector<uint8_t> elf = kernel_file(name);
  char error[256];
  for (const std::string& kernel : kernels) {
    if (stretto_kernel_check(elf.data(), elf.size(), kernel.c_str(), nullptr, error,
                             sizeof error) != STRETTO_OK)
      throw UserError(kernel_path(name) + ": " + error);
  }
}

std::string figure(double value, unsigned width) {
  char text[64];
  if (value == 0) {
    std::snprintf(text, sizeof text, "%*s", static_cast<int>(width), "-");
  } else {
    std::snprintf(text, sizeof text, "%*.3f", static_cast<int>(width), value);
  }
  return text;
}

std::vector<uint8_t> kernel_file(const std::string& name) {
  const std::string bytes = read_file(kernel_path(name));
  return {bytes.begin(), bytes.end()};
}

std::string kernel_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const std::string shipped = software_folder() + "/kernels/" + name + ".elf";
  if (!std::filesystem::exists(shipped))
    throw UserError(shipped +
                    ": no such kernel is shipped; a file of your own has a slash in its "
                    "name: ./" +
                    name);
  return shipped;
}

}  // namespace stretto
