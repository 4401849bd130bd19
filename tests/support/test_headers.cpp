// SPDX-License-Identifier: Apache-2.0
// Nothing: the source of the target whose precompiled headers tests share (platform/cmake/stretto_test.cmake).
