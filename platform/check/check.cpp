// SPDX-License-Identifier: Apache-2.0
#include "platform/check/check.h"

#include <Eigen/Core>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <future>

#include "platform/check/number_format.h"

namespace stretto {

namespace {

class Checker {
 public:
  explicit Checker(const CheckTask& task)
      : task_(task),
        format_(task.element),
        tiles_n_((task.n + task.tile_n - 1) / task.tile_n),
        tiles_(tiles_n_ * ((task.m + task.tile_m - 1) / task.tile_m)),
        got_(task.n) {
    for (uint32_t value = 0; value <= format_.whole(); ++value)
      whole_.push_back(bits_of(static_cast<float>(value)));
    number_tiles();
  }

  CheckReport run() {
    if (task_.mirrored && task_.output != CheckOutput::product) {
      add_up_chunks();
      for (uint32_t row = 0; row < task_.m; ++row) mirrored_row(row);
    } else if (task_.data == DataMode::stamp && task_.output == CheckOutput::product) {
      for (uint32_t row = 0; row < task_.m; ++row) product_row(row);
    } else if (task_.data == DataMode::stamp && task_.output != CheckOutput::gathered) {
      stamp_rows();
    } else if (task_.output == CheckOutput::gathered) {
      for (uint32_t row = 0; row < task_.m; ++row) gathered_row(row);
    } else {
      make_partials();
      for (uint32_t row = 0; row < task_.m; ++row) real_row(row);
    }
    return report_;
  }

 private:
  float value_of(uint16_t bits) const { return format_.value(bits); }
  uint16_t bits_of(float value) const { return format_.bits(value); }

  std::string text_of(uint16_t bits) const {
    if (format_.is_nan(bits)) return "NaN";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value_of(bits));
    return text;
  }

  struct Tile {
    uint32_t chunk = 0;
    uint32_t index = 0;  // In the chunk.
  };

  // Walks the tiles in the order in which chunks take them.
  void number_tiles() {
    const uint32_t across = task_.strips_down ? tiles_n_ : tiles_ / tiles_n_;
    const uint32_t along = tiles_ / across, width = 1u << task_.strip_log2;
    assert(across % width == 0);
    tile_.resize(tiles_);
    clipped_.assign(tiles_, {0, task_.ranks});
    uint32_t id = 0, chunk = 0;
    for (uint32_t strip = 0; strip < across; strip += width) {
      for (uint32_t step = 0; step < along; ++step) {
        for (uint32_t i = strip; i < strip + width; ++i, ++id) {
          while (id >= chunk_first_tile(tiles_, task_.ranks, chunk + 1)) ++chunk;
          const uint32_t row = task_.strips_down ? step : i, column = task_.strips_down ? i : step;
          const uint32_t index = id - chunk_first_tile(tiles_, task_.ranks, chunk);
          tile_[row * tiles_n_ + column] = {chunk, index};
          if (column + 1 < tiles_n_ || whole_columns() == task_.tile_n) continue;
          Clipped& clipped = clipped_[index];
          clipped.first_position = std::max(clipped.first_position, position_of(chunk) + 1);
          clipped.end_chunk = std::min(clipped.end_chunk, chunk);
        }
      }
    }
  }

  const Tile& tile_at(uint32_t row, uint32_t column) const {
    return tile_[row / task_.tile_m * tiles_n_ + column / task_.tile_n];
  }
  uint32_t chunk_at(uint32_t row, uint32_t column) const { return tile_at(row, column).chunk; }

  // Compares what must be in `row` on every simulated rank; expected(rank) gives the bits of the
  // row.
  template <class Expected>
  void compare_row(uint32_t row, Expected expected) {
    const bool own_only = task_.output == CheckOutput::own_sum;
    for (uint32_t rank = 0; rank < task_.simulated_ranks; ++rank) {
      task_.read(rank, row, 0, task_.n, got_.data());
      const uint16_t* const want = followed(row, expected(rank));
      if (!own_only && std::equal(got_.begin(), got_.end(), want)) {
        report_.elements += task_.n;
        continue;
      }
      for (uint32_t column = 0; column < task_.n; ++column) {
        if (own_only && chunk_at(row, column) != rank) continue;
        ++report_.elements;
        if (got_[column] == want[column]) continue;
        if (report_.mismatches++ == 0) {
          report_.first = "rank " + std::to_string(rank) + " row " + std::to_string(row) +
                          " column " + std::to_string(column) + ": got " + text_of(got_[column]) +
                          ", expected " + text_of(want[column]);
        }
      }
    }
  }

  // What becomes of the sums of a row.
  const uint16_t* followed(uint32_t row, const uint16_t* sums) {
    if (!task_.mask) return sums;
    followed_.resize(task_.n);
    for (uint32_t column = 0; column < task_.n; ++column) {
      const float kept =
          value_of(bits_of(value_of(sums[column]) * value_of(task_.mask(row, column))));
      followed_[column] = bits_of(kept + value_of(task_.residual(row, column)));
    }
    return followed_.data();
  }

  void product_row(uint32_t row) {
    compare_row(row, [&](uint32_t rank) {
      sum_.assign(task_.n, 0);
      task_.add_stamps(rank, row, sum_.data());
      return whole_numbers(sum_);
    });
  }

  // The sums of a block of rows are made while the rows before are compared.
  void stamp_rows() {
    static constexpr uint32_t kBlock = 64;
    const auto make = [this](uint32_t first) {
      const uint32_t rows = std::min(kBlock, task_.m - first);
      std::vector<uint16_t> want(uint64_t{rows} * task_.n);
      std::vector<uint32_t> sum(task_.n);
      for (uint32_t row = 0; row < rows; ++row) {
        std::fill(sum.begin(), sum.end(), 0);
        for (uint32_t rank = 0; rank < task_.ranks; ++rank)
          task_.add_stamps(rank, first + row, sum.data());
        whole_numbers(sum, want.data() + uint64_t{row} * task_.n);
      }
      return want;
    };
    std::vector<uint16_t> want = make(0);
    for (uint32_t first = 0; first < task_.m; first += kBlock) {
      std::future<std::vector<uint16_t>> next;
      if (task_.m - first > kBlock) next = std::async(std::launch::async, make, first + kBlock);
      for (uint32_t row = 0; row < std::min(kBlock, task_.m - first); ++row) {
        compare_row(first + row, [&](uint32_t) { return want.data() + uint64_t{row} * task_.n; });
      }
      if (next.valid()) want = next.get();
    }
  }

  const uint16_t* whole_numbers(const std::vector<uint32_t>& sum) {
    want_.resize(task_.n);
    whole_numbers(sum, want_.data());
    return want_.data();
  }

  // Sums as numbers of the format. Integers are exact, so a sum does not depend on the order of the
  // ring.
  void whole_numbers(const std::vector<uint32_t>& sum, uint16_t* want) const {
    for (uint32_t column = 0; column < task_.n; ++column) {
      assert(sum[column] < whole_.size());
      want[column] = whole_[sum[column]];
    }
  }

  void gathered_row(uint32_t row) {
    want_.resize(task_.n);
    for (uint32_t column = 0; column < task_.n; ++column)
      want_[column] = task_.given(chunk_at(row, column), row, column);
    compare_row(row, [&](uint32_t) { return want_.data(); });
  }

  // Mirrored machines. What leaves rank 0 comes back to it as the next chunk: sums go from chunk 1
  // to 2, ... to 0, the gathered chunk 0 to 1, 2, ... A tile that is clipped on the right lets
  // through only what it has, so beyond that the sums begin anew behind the last such chunk, and
  // nothing is gathered from the first on.
  struct Clipped {            // By index in the chunk; of columns from whole_columns() on.
    uint32_t first_position;  // From which on chunks are in the sum.
    uint32_t end_chunk;       // From which on nothing arrives.
  };

  // Columns of a tile that all chunks have.
  uint32_t whole_columns() const { return task_.n - (tiles_n_ - 1) * task_.tile_n; }
  uint32_t position_of(uint32_t chunk) const { return (chunk + task_.ranks - 1) % task_.ranks; }

  // Place of an element in its chunk: tile of the chunk, then row and column of the tile.
  uint64_t place_in_chunk(uint32_t row, uint32_t column) const {
    return (uint64_t{tile_at(row, column).index} * task_.tile_m + row % task_.tile_m) *
               task_.tile_n +
           column % task_.tile_n;
  }

  // Calls f(column, count) for the parts of a row that lie in one tile.
  template <class F>
  void for_each_tile_of_row(F f) const {
    for (uint32_t column = 0; column < task_.n; column += task_.tile_n)
      f(column, std::min(task_.tile_n, task_.n - column));
  }

  void add_up_chunks() {
    chunk_sum_.assign(uint64_t{tiles_ / task_.ranks + 1} * task_.tile_m * task_.tile_n, 0);
    std::vector<uint32_t> values(task_.n);
    for (uint32_t row = 0; row < task_.m; ++row) {
      std::fill(values.begin(), values.end(), 0);
      task_.add_stamps(0, row, values.data());
      for_each_tile_of_row([&](uint32_t column, uint32_t count) {
        // An isolated all-gather passes the own chunk on and adds nothing.
        if (task_.output == CheckOutput::gathered && chunk_at(row, column) != 0) return;
        const Tile& tile = tile_at(row, column);
        if (position_of(tile.chunk) < clipped_[tile.index].first_position)
          count = std::min(count, whole_columns());
        uint32_t* const sums = &chunk_sum_[place_in_chunk(row, column)];
        for (uint32_t i = 0; i < count; ++i) sums[i] += values[column + i];
      });
    }
  }

  void mirrored_row(uint32_t row) {
    sum_.resize(task_.n);
    for_each_tile_of_row([&](uint32_t column, uint32_t count) {
      const Tile& tile = tile_at(row, column);
      const uint32_t there = tile.chunk == 0 || tile.chunk < clipped_[tile.index].end_chunk
                                 ? count
                                 : std::min(count, whole_columns());
      std::copy_n(&chunk_sum_[place_in_chunk(row, column)], there, &sum_[column]);
      std::fill_n(&sum_[column + there], count - there, 0);
    });
    compare_row(row, [&](uint32_t) { return whole_numbers(sum_); });
  }

  void make_partials() {
    if (task_.given) {
      partial_.assign(task_.ranks, std::vector<uint16_t>(uint64_t{task_.m} * task_.n));
      for (uint32_t rank = 0; rank < task_.ranks; ++rank) {
        for (uint32_t row = 0; row < task_.m; ++row) {
          for (uint32_t column = 0; column < task_.n; ++column) {
            partial_[rank][uint64_t{row} * task_.n + column] = task_.given(rank, row, column);
          }
        }
      }
      return;
    }
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    partial_.assign(task_.ranks, std::vector<uint16_t>(uint64_t{task_.m} * task_.n));
    // gamma_K of FP32 accumulation (Higham, 3.1) times sum |a||b|, plus one rounding to the format.
    const double u32 = std::ldexp(1.0, -24);
    const double gamma = task_.k * u32 / (1 - task_.k * u32);
    for (uint32_t rank = 0; rank < task_.ranks; ++rank) {
      Matrix a(task_.m, task_.k), b(task_.k, task_.n);
      for (uint32_t row = 0; row < task_.m; ++row) {
        for (uint32_t k = 0; k < task_.k; ++k) a(row, k) = value_of(task_.a(rank, row, k));
      }
      for (uint32_t k = 0; k < task_.k; ++k) {
        for (uint32_t column = 0; column < task_.n; ++column)
          b(k, column) = value_of(task_.b(rank, k, column));
      }
      const Matrix exact = a * b;
      const Matrix magnitude = a.cwiseAbs() * b.cwiseAbs();
      const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> of_b =
          b.cast<float>();
      std::vector<float> sum(task_.n);
      for (uint32_t row = 0; row < task_.m; ++row) {
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (uint32_t k = 0; k < task_.k; ++k) {
          const float left = static_cast<float>(a(row, k)), *const right = &of_b(k, 0);
          for (uint32_t column = 0; column < task_.n; ++column) sum[column] += left * right[column];
        }
        for (uint32_t column = 0; column < task_.n; ++column) {
          const uint16_t bits = bits_of(sum[column]);
          partial_[rank][uint64_t{row} * task_.n + column] = bits;
          const double right =
              std::clamp(exact(row, column), -format_.largest(), format_.largest());
          const double error = std::abs(double(value_of(bits)) - right);
          const double accumulation = gamma * magnitude(row, column);
          const double rounding = std::max(
              std::ldexp(std::abs(exact(row, column)) + accumulation, -format_.precision()),
              format_.smallest() / 2);
          report_.max_error = std::max(report_.max_error, error / (accumulation + rounding));
        }
      }
    }
    report_.error_bound = 1;
  }

  void real_row(uint32_t row) {
    const auto partial = [&](uint32_t rank, uint32_t column) {
      return partial_[rank][uint64_t{row} * task_.n + column];
    };
    if (task_.output == CheckOutput::product) {
      compare_row(row, [&](uint32_t rank) { return &partial_[rank][uint64_t{row} * task_.n]; });
      return;
    }
    want_.resize(task_.n);
    if (task_.any_order) {
      owned_row(row);
      compare_row(row, [&](uint32_t) { return want_.data(); });
      return;
    }
    for (uint32_t column = 0; column < task_.n; ++column) {
      const uint32_t owner = chunk_at(row, column);
      uint32_t rank = (owner + task_.ranks - 1) % task_.ranks;
      uint16_t sum = partial(rank, column);
      if (task_.from_zero) sum = bits_of(0.0f + value_of(sum));
      while (rank != owner) {
        rank = (rank + task_.ranks - 1) % task_.ranks;
        sum = bits_of(value_of(sum) + value_of(partial(rank, column)));
      }
      want_[column] = sum;
    }
    compare_row(row, [&](uint32_t) { return want_.data(); });
  }

  // What the owners of a row's elements have, if it is within the bound of any order, else what it
  // should be.
  void owned_row(uint32_t row) {
    std::vector<std::vector<uint16_t>> got(task_.ranks, std::vector<uint16_t>(task_.n));
    for (uint32_t rank = 0; rank < task_.ranks; ++rank)
      task_.read(rank, row, 0, task_.n, got[rank].data());
    const double additions = (task_.ranks - 1) * std::ldexp(1.0, -format_.precision());
    const double gamma = additions / (1 - additions);
    for (uint32_t column = 0; column < task_.n; ++column) {
      double sum = 0, magnitude = 0;
      for (uint32_t rank = 0; rank < task_.ranks; ++rank) {
        const double one = value_of(partial_[rank][uint64_t{row} * task_.n + column]);
        sum += one;
        magnitude += std::abs(one);
      }
      const uint16_t owned = got[chunk_at(row, column)][column];
      const double error = std::abs(double(value_of(owned)) - sum), bound = gamma * magnitude;
      const bool right = error <= bound;  // Not of NaN.
      want_[column] = right ? owned : bits_of(static_cast<float>(sum));
      if (right && bound > 0) report_.max_error = std::max(report_.max_error, error / bound);
    }
  }

  const CheckTask& task_;
  const NumberFormat format_;
  uint32_t tiles_n_;
  uint32_t tiles_;
  std::vector<Tile> tile_;  // By row and column.
  std::vector<Clipped> clipped_;
  std::vector<uint16_t> got_;
  std::vector<uint16_t> whole_;  // 0, 1, ... as numbers of the format.
  std::vector<uint32_t> sum_;
  std::vector<uint16_t> want_, followed_;
  std::vector<uint32_t> chunk_sum_;  // By place in a chunk.
  std::vector<std::vector<uint16_t>> partial_;
  CheckReport report_;
};

}  // namespace

uint32_t chunk_first_tile(uint32_t tiles, uint32_t ranks, uint32_t chunk) {
  return static_cast<uint32_t>(uint64_t{tiles} * chunk / ranks);
}

CheckReport check_output(const CheckTask& task) {
  assert(task.ranks > 0 && task.simulated_ranks <= task.ranks);
  return Checker(task).run();
}

}  // namespace stretto
