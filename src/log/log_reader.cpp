#include "sonictrace/log/log_reader.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "log/closing_line.hpp"
#include "log/reading.hpp"

namespace sonictrace::log {

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::clamp(CPU_COUNT(&set), 1, 8));
}

Result<LogReader> LogReader::open(const std::string& path, const ReaderOptions& options) {
  auto input = LogInput::open(path);
  if (!input) return input.error();
  return LogReader(std::make_unique<Reading>(std::move(*input), options));
}

LogReader::LogReader(std::unique_ptr<Reading> reading) : reading_(std::move(reading)) {}
LogReader::LogReader(LogReader&& other) noexcept = default;
LogReader& LogReader::operator=(LogReader&& other) noexcept = default;
LogReader::~LogReader() = default;

Result<void> LogReader::pump(CallVisitor& visitor) { return reading_->pump(visitor); }
const std::string& LogReader::name() const { return reading_->name(); }
const FunctionTable& LogReader::functions() const { return reading_->functions(); }
const Accounting& LogReader::accounting() const { return reading_->accounting(); }

} // namespace sonictrace::log
