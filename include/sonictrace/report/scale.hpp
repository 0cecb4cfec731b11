#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/log_reader.hpp"
#include "sonictrace/names/demangle.hpp"
#include "sonictrace/report/call_filter.hpp"

namespace sonictrace::report {

struct Point {
  double x = 0, y = 0;
};

/// y = factor * x ^ exponent.
struct PowerFit {
  double exponent = 0;
  double factor = 0;
  double r_squared = 0;      ///< 1: the points lie on it
  double standard_error = 0; ///< of the exponent
};

/// By least squares on the logarithms. Nothing where there are fewer than three different x, or
/// where an x or a y is not above 0.
std::optional<PowerFit> fit_power(std::span<const Point> points);

/// A log that was made with one value of a parameter.
struct ScaleRun {
  std::string value_text; ///< as typed
  double value = 0;
  std::string path;
};

struct ScaleParameter {
  std::string name;
  std::vector<ScaleRun> runs;
};

/// `resolution=256:a.log,512:b.log,1024:c.log`. Fails with one line.
Result<ScaleParameter> parse_scale_parameter(std::string_view text);

/// How a function's time and calls go with a parameter.
struct ScaleRow {
  std::string function;
  std::vector<double> mean_ns; ///< of a call, by value of the parameter; NaN where there is none
  std::optional<PowerFit> mean, calls, total;
  double largest_total_ns = 0; ///< at the largest value

  std::size_t points = 0;
};

/// Gathers runs.
class Scale {
public:
  /// Adds the calls of one log that the filter accepts.
  Result<void> add(double value, log::LogReader& reader, CallFilter& filter,
                   DemangleStyle demangle);

  /// The values, rising.
  std::vector<double> values() const;
  /// The functions that are called with at least three values, the one that takes most first.
  std::vector<ScaleRow> rows() const;
  /// Those with fewer.
  std::size_t too_few() const;

private:
  struct Sum {
    std::uint64_t calls = 0, timed = 0;
    double total_ns = 0;
  };

  std::map<double, std::uint64_t> runs_;                   ///< how many of each value
  std::map<std::string, std::map<double, Sum>> functions_; ///< by name
};

} // namespace sonictrace::report
