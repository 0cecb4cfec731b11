#include "sonictrace/report/bursts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sonictrace/report/quantity.hpp"

namespace sonictrace::report {

/// By function: modules are known at the end of the log only.
class Bursts::Counter final : public log::CallVisitor {
public:
  Counter(CallFilter& filter, const log::FunctionTable& functions)
      : filter_(filter), functions_(functions) {}

  std::map<std::uint64_t, std::map<log::FunctionId, Bucket>> buckets;
  std::uint64_t bucket_ns = 0;
  std::size_t places = 0;
  bool widened = false;

  void on_call(const log::Call& call) override {
    if (call.end == log::Call::End::Unfinished || !filter_.accepts(call, functions_)) return;
    if (call.entry_ns == log::kNoTime) return;
    const auto number = call.entry_ns / bucket_ns;
    if (last_ == nullptr || number != last_number_ || call.function != last_function_) {
      auto& bucket = buckets[number];
      const auto [place, is_new] = bucket.try_emplace(call.function);
      last_ = &place->second;
      last_number_ = number;
      last_function_ = call.function;
      places += is_new ? 1 : 0;
    }
    ++last_->calls;
    if (call.has_duration()) {
      last_->total_ns += call.duration_ns;
      last_->self_ns += call.self_ns;
    }
    if (places > kMostBuckets) widen();
  }

private:
  void widen() {
    while (places > kMostBuckets / 2 && bucket_ns < (std::uint64_t{1} << 62)) {
      std::map<std::uint64_t, std::map<log::FunctionId, Bucket>> wider;
      places = 0;
      for (const auto& [number, functions] : buckets)
        for (const auto& [function, bucket] : functions) {
          const auto [place, is_new] = wider[number / 2].try_emplace(function);
          place->second.calls += bucket.calls;
          place->second.total_ns += bucket.total_ns;
          place->second.self_ns += bucket.self_ns;
          places += is_new ? 1 : 0;
        }
      buckets = std::move(wider);
      bucket_ns *= 2;
    }
    last_ = nullptr;
    widened = true;
  }

  CallFilter& filter_;
  const log::FunctionTable& functions_;
  Bucket* last_ = nullptr;
  std::uint64_t last_number_ = 0;
  log::FunctionId last_function_ = 0;
};

Result<void> Bursts::add(log::LogReader& reader, CallFilter& filter) {
  Counter counter(filter, reader.functions());
  counter.bucket_ns = bucket_ns_;
  auto read = reader.pump(counter);
  while (bucket_ns_ < counter.bucket_ns)
    widen();
  widened_ = widened_ || counter.widened;
  const auto& account = reader.accounting();
  if (account.first_ns != log::kNoTime) {
    first_ns_ = std::min(first_ns_, account.first_ns);
    last_ns_ = std::max(last_ns_, account.last_ns);
  }
  for (const auto& [number, functions] : counter.buckets)
    for (const auto& [function, bucket] : functions) {
      if (!filter.accepts_module(reader.functions()[function].module)) {
        filter.refuse(bucket.calls, bucket.total_ns, bucket.self_ns);
        continue;
      }
      auto& sum = buckets_[number];
      sum.calls += bucket.calls;
      sum.total_ns += bucket.total_ns;
      sum.self_ns += bucket.self_ns;
      calls_ += bucket.calls;
    }
  return read;
}

void Bursts::widen() {
  std::map<std::uint64_t, Bucket> wider;
  for (const auto& [number, bucket] : buckets_) {
    auto& sum = wider[number / 2];
    sum.calls += bucket.calls;
    sum.total_ns += bucket.total_ns;
    sum.self_ns += bucket.self_ns;
  }
  buckets_ = std::move(wider);
  bucket_ns_ *= 2;
}

double Bursts::average() const {
  if (buckets_.empty()) return 0;
  const auto buckets = last_ns_ / bucket_ns_ - first_ns_ / bucket_ns_ + 1;
  return static_cast<double>(calls_) / static_cast<double>(buckets);
}

bool Bursts::is_in_burst(const Bucket& bucket) const {
  return bucket.calls >= least_ && static_cast<double>(bucket.calls) >= factor_ * average();
}

std::vector<Burst> Bursts::bursts() const {
  std::vector<Burst> bursts;
  for (const auto& [number, bucket] : buckets_) {
    if (!is_in_burst(bucket)) continue;
    const auto from = number * bucket_ns_;
    if (bursts.empty() || bursts.back().to_ns != from) bursts.push_back({from, from, 0, 0, 0});
    auto& burst = bursts.back();
    burst.to_ns = from + bucket_ns_;
    burst.calls += bucket.calls;
    burst.total_ns += bucket.total_ns;
    burst.most_calls = std::max(burst.most_calls, bucket.calls);
  }
  return bursts;
}

Table bursts_table(const Bursts& bursts, std::uint64_t origin_ns) {
  Table table;
  table.columns = {
      {"from_ns", "from_s"}, {"calls", "calls"}, {"total_ns", "total_s"}, {"burst", "burst", true}};
  for (const auto& [number, bucket] : bursts.buckets()) {
    const auto from = number * bursts.bucket_ns();
    table.rows.push_back({Seconds{from < origin_ns ? 0 : from - origin_ns}, bucket.calls,
                          Seconds{bucket.total_ns},
                          std::string(bursts.is_in_burst(bucket) ? "burst" : "")});
  }
  return table;
}

std::string bursts_text(const Bursts& bursts, std::uint64_t origin_ns) {
  constexpr std::size_t kMostRows = 200;
  const auto since = [origin_ns](std::uint64_t time_ns) {
    return format_seconds(time_ns < origin_ns ? 0 : time_ns - origin_ns, 3);
  };
  std::string text = fmt::format("{:>12}  {:>10}  {:>10}\n", "from_s", "calls", "total_s");
  std::uint64_t most = 0;
  for (const auto& [number, bucket] : bursts.buckets())
    most = std::max(most, bucket.calls);
  std::uint64_t next = bursts.buckets().empty() ? 0 : bursts.buckets().begin()->first;
  std::size_t rows = 0;
  for (const auto& [number, bucket] : bursts.buckets()) {
    if (++rows > kMostRows) {
      text += fmt::format("{:>12}  and {} more rows: --format csv has them all\n", "...",
                          format_count(bursts.buckets().size() - kMostRows));
      break;
    }
    if (number > next)
      text += fmt::format("{:>12}  {} without a call\n", "...", format_count(number - next));
    text += fmt::format("{:>12}  {:>10}  {:>10}  {}{}\n", since(number * bursts.bucket_ns()),
                        format_count(bucket.calls), format_seconds(bucket.total_ns, 4),
                        bar(static_cast<double>(bucket.calls), static_cast<double>(most), 40),
                        bursts.is_in_burst(bucket) ? "  burst" : "");
    next = number + 1;
  }
  const auto found = bursts.bursts();
  text += fmt::format("{} calls in buckets of {}, {:.1f} on average", format_count(bursts.calls()),
                      format_duration(bursts.bucket_ns()), bursts.average());
  text += found.empty() ? "; no burst\n" : fmt::format("; bursts: {}\n", found.size());
  for (const auto& burst : found)
    text += fmt::format(
        "burst: {} s to {} s: {} calls ({:.1f} % of all), {} s in them, at most {} in {}\n",
        since(burst.from_ns), since(burst.to_ns), format_count(burst.calls),
        100 * static_cast<double>(burst.calls) / static_cast<double>(bursts.calls()),
        format_seconds(burst.total_ns, 4), format_count(burst.most_calls),
        format_duration(bursts.bucket_ns()));
  if (bursts.was_widened())
    text += "the buckets were made wider than --bucket says: there were too many\n";
  return text;
}

std::string bar(double value, double most, unsigned cells) {
  if (most <= 0 || value <= 0) return {};
  const auto eighths = static_cast<unsigned>(
      std::lround(std::min(value / most, 1.0) * static_cast<double>(cells) * 8));
  static constexpr std::array kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (unsigned i = 0; i < eighths / 8; ++i)
    text += "█";
  text += kParts[eighths % 8];
  return text.empty() ? kParts[1] : text; // something is there
}

} // namespace sonictrace::report
