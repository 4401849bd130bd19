// SPDX-License-Identifier: Apache-2.0
// Question: what is a shipped program told of a call of cuda_runtime.h that failed? The whole name of the
// call, none of its arguments, and why.
#include <catch2/catch.hpp>

#include <string>

#include "sw/collectives/runtime.h"

TEST_CASE("a call that failed is named without its arguments") {
  char error[256] = "untouched";
  CHECK(stretto_runtime_cuda_outcome(cudaSuccess, "cudaFree(memory)", error) == STRETTO_OK);
  CHECK(std::string(error) == "untouched");
  const std::string why = cudaGetErrorString(cudaErrorInvalidValue);
  for (const std::string name :
       {"cudaFree", "cudaStreamWaitEvent", "cudaLaunchCooperativeKernel"}) {
    for (const std::string& call :
         {name, name + "(job->members[i].stream)", name + "(a(b), (dim3){1, 1, 1}, NULL)"}) {
      CHECK(stretto_runtime_cuda_outcome(cudaErrorInvalidValue, call.c_str(), error) ==
            STRETTO_ERROR_DEVICE);
      CHECK(error == name + ": " + why);
    }
  }
}
