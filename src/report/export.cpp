#include "sonictrace/report/export.hpp"

#include <algorithm>

#include "sonictrace/report/call_class.hpp"

namespace sonictrace::report {

const std::array<DurationLimits::Limit, DurationLimits::kCount>& DurationLimits::limits() {
  static constexpr std::array<Limit, kCount> kLimits = {
      {{1'000, "1e-06"},        {2'000, "2e-06"},       {5'000, "5e-06"},
       {10'000, "1e-05"},       {20'000, "2e-05"},      {50'000, "5e-05"},
       {100'000, "0.0001"},     {200'000, "0.0002"},    {500'000, "0.0005"},
       {1'000'000, "0.001"},    {2'000'000, "0.002"},   {5'000'000, "0.005"},
       {10'000'000, "0.01"},    {20'000'000, "0.02"},   {50'000'000, "0.05"},
       {100'000'000, "0.1"},    {200'000'000, "0.2"},   {500'000'000, "0.5"},
       {1'000'000'000, "1.0"},  {2'000'000'000, "2.0"}, {5'000'000'000, "5.0"},
       {10'000'000'000, "10.0"}}};
  return kLimits;
}

void DurationLimits::add(std::uint64_t ns) {
  const auto& all = limits();
  const auto place = std::partition_point(all.begin(), all.end(),
                                          [ns](const Limit& limit) { return limit.ns < ns; });
  ++counts_[static_cast<std::size_t>(place - all.begin())];
}

void DurationLimits::add(const DurationLimits& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    counts_[i] += other.counts_[i];
}

std::uint64_t DurationLimits::at_most(std::size_t i) const {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j <= i; ++j)
    sum += counts_[j];
  return sum;
}

void sort_rows(std::vector<ExportRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const ExportRow& a, const ExportRow& b) {
    if (a.stats.self_ns != b.stats.self_ns) return a.stats.self_ns > b.stats.self_ns;
    if (a.stats.calls != b.stats.calls) return a.stats.calls > b.stats.calls;
    if (a.function != b.function) return a.function < b.function;
    if (a.module != b.module) return a.module < b.module;
    return a.tid < b.tid;
  });
}

void fold_rows(std::vector<ExportRow>& rows, std::size_t top) {
  if (top == 0 || rows.size() <= top) return;
  ExportRow other;
  other.function = "other";
  for (std::size_t i = top; i < rows.size(); ++i) {
    other.stats.add(rows[i].stats);
    other.limits.add(rows[i].limits);
  }
  rows.resize(top);
  rows.push_back(std::move(other));
}

Result<ModuleNames> read_modules(log::LogReader& reader) {
  struct Nothing final : log::CallVisitor {
    void on_call(const log::Call&) override {}
  } nothing;
  if (auto read = reader.pump(nothing); !read) return read.error();
  ModuleNames modules;
  const auto& functions = reader.functions();
  for (log::FunctionId id = 0; id < functions.size(); ++id)
    if (!functions[id].module.empty()) modules.emplace(functions[id].name, functions[id].module);
  return modules;
}

void Exporter::on_call(const log::Call& call) {
  if (!pid_) pid_ = call.tid;
  if (call.end == log::Call::End::Unfinished || !filter_.accepts(call, functions_)) return;
  if (call.entry_ns != log::kNoTime) {
    const std::uint64_t end = call.end_ns();
    if (options_.interval_ns > 0) {
      const std::uint64_t number = end / options_.interval_ns;
      if (!interval_) interval_ = number;
      if (number > *interval_) {
        give_out();
        interval_ = number;
      }
      late_ += number < *interval_ ? 1 : 0;
    }
    first_ns_ = std::min(first_ns_, call.entry_ns);
    last_ns_ = last_ns_ == log::kNoTime ? end : std::max(last_ns_, end);
  }
  Sum& sum = sum_of(call.function, options_.per_thread ? call.tid : log::kNoTid);
  sum.stats.add(call);
  if (call.has_duration()) sum.limits.add(call.duration_ns);
}

Exporter::Sum& Exporter::sum_of(log::FunctionId function, std::uint32_t tid) {
  const auto [known, is_new] =
      places_.try_emplace(std::uint64_t{function} << 32 | tid, sums_.size());
  if (is_new) sums_.push_back({function, tid, {}, {}});
  return sums_[known->second];
}

std::string Exporter::module_of(const log::Function& function) const {
  if (!function.module.empty()) return function.module;
  const auto known = modules_.find(function.name);
  return known == modules_.end() ? std::string() : known->second;
}

void Exporter::give_out() {
  ExportInterval interval;
  interval.pid = pid_.value_or(log::kNoTid);
  if (options_.interval_ns > 0 && interval_) {
    interval.from_ns = *interval_ * options_.interval_ns;
    interval.to_ns = interval.from_ns + options_.interval_ns;
  } else {
    interval.from_ns = first_ns_;
    interval.to_ns = last_ns_;
  }
  for (auto& sum : sums_) {
    const auto& function = functions_[sum.function];
    ExportRow row;
    row.module = module_of(function);
    if (!filter_.accepts_module(row.module)) {
      filter_.refuse(sum.stats.calls, sum.stats.sum_ns, sum.stats.self_ns);
      continue;
    }
    row.function = function.name;
    row.call_class = to_string(class_of(function));
    row.tid = sum.tid;
    row.stats = std::move(sum.stats);
    row.limits = sum.limits;
    interval.rows.push_back(std::move(row));
  }
  places_.clear();
  sums_.clear();
  if (interval.rows.empty()) return;
  sort_rows(interval.rows);
  take_(std::move(interval));
}

void Exporter::finish() {
  // Calls that the log only counts: when they were is not known.
  if (!filter_.depends_on_calls())
    for (log::FunctionId id = 0; id < functions_.size(); ++id) {
      const auto& function = functions_[id];
      if (function.thinned_calls == 0) continue;
      if (filter_.accepts_function(function))
        sum_of(id, log::kNoTid).stats.add_thinned(function.thinned_calls, function.thinned_ns);
      else
        filter_.refuse(function.thinned_calls, function.thinned_ns, function.thinned_ns);
    }
  if (!sums_.empty()) give_out();
}

} // namespace sonictrace::report
