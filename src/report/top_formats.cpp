#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/top.hpp"

namespace sonictrace::report {
namespace {

double part(std::uint64_t of, std::uint64_t all) {
  return all == 0 ? 0.0 : 100.0 * static_cast<double>(of) / static_cast<double>(all);
}

struct Known {
  std::string_view name; ///< as typed with -U
  Column column;
  bool needs_time;
  Cell (*cell)(const TopRow& row, const CallStats& total);
};

Cell quantile(const TopRow& row, unsigned per_mille) {
  if (row.stats.timed == 0) return std::monostate();
  return Nanoseconds{row.stats.durations.quantile(per_mille)};
}

const std::array<Known, 14>& known_columns() {
  static const std::array<Known, 14> kKnown = {{
      {"%self",
       {"self_percent", "%self"},
       true,
       [](const TopRow& row, const CallStats& total) -> Cell {
         return Percent{part(row.stats.self_ns, total.self_ns)};
       }},
      {"self",
       {"self_ns", "self_s"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell { return Seconds{row.stats.self_ns}; }},
      {"total",
       {"total_ns", "total_s"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell { return Seconds{row.stats.outermost_ns}; }},
      {"sum",
       {"sum_ns", "sum_s"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell { return Seconds{row.stats.sum_ns}; }},
      {"calls",
       {"calls", "calls"},
       false,
       [](const TopRow& row, const CallStats&) -> Cell { return row.stats.calls; }},
      {"avg",
       {"avg_ns", "avg"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell {
         if (row.stats.timed + row.stats.thinned == 0) return std::monostate();
         return Nanoseconds{row.stats.average_ns()};
       }},
      {"min",
       {"min_ns", "min"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell {
         if (row.stats.timed == 0) return std::monostate();
         return Nanoseconds{row.stats.durations.least()};
       }},
      {"p50",
       {"p50_ns", "p50"},
       true,
       [](const TopRow& row, const CallStats&) { return quantile(row, 500); }},
      {"p90",
       {"p90_ns", "p90"},
       true,
       [](const TopRow& row, const CallStats&) { return quantile(row, 900); }},
      {"p99",
       {"p99_ns", "p99"},
       true,
       [](const TopRow& row, const CallStats&) { return quantile(row, 990); }},
      {"max",
       {"max_ns", "max"},
       true,
       [](const TopRow& row, const CallStats&) -> Cell {
         if (row.stats.timed == 0) return std::monostate();
         return Nanoseconds{row.stats.durations.largest()};
       }},
      {"class",
       {"class", "class", true},
       false,
       [](const TopRow& row, const CallStats&) -> Cell { return row.tag; }},
      {"lib",
       {"lib", "lib", true},
       false,
       [](const TopRow& row, const CallStats&) -> Cell { return row.module; }},
      {"function",
       {"function", "function", true},
       false,
       [](const TopRow& row, const CallStats&) -> Cell { return row.label; }},
  }};
  return kKnown;
}

std::string_view label_of(TopBy by) {
  switch (by) {
    case TopBy::Function:
    case TopBy::FirstArgument: return "function";
    case TopBy::Library: return "lib";
    case TopBy::Caller: return "caller";
    case TopBy::Thread: return "thread";
    case TopBy::Stage: return "stage";
    case TopBy::Class: return "class";
  }
  return "";
}

bool is_of_function(TopBy by) { return by == TopBy::Function || by == TopBy::FirstArgument; }

/// Named ones, or the usual ones.
Result<std::vector<const Known*>> choose(const Top& top, std::string_view names) {
  std::vector<const Known*> chosen;
  const bool usual = names.empty();
  if (usual) names = "%self,self,total,calls,p50,p90,p99,max,class,lib,function";
  while (!names.empty()) {
    const auto comma = names.find(',');
    const auto name = names.substr(0, comma);
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    const auto& all = known_columns();
    const auto found =
        std::find_if(all.begin(), all.end(), [name](const Known& one) { return one.name == name; });
    if (found == all.end()) {
      std::string list;
      for (const auto& one : all)
        list += (list.empty() ? "" : ", ") + std::string(one.name);
      return Error::saying(fmt::format("-U '{}': no such column; there are {}", name, list));
    }
    if (usual && found->needs_time && !top.has_times()) continue;
    // A class or a library by itself is the label.
    if (!is_of_function(top.options().by) && (found->name == "class" || found->name == "lib"))
      continue;
    chosen.push_back(&*found);
  }
  return chosen;
}

} // namespace

Result<Table> top_table(const Top& top, std::size_t limit, std::string_view columns) {
  auto chosen = choose(top, columns);
  if (!chosen) return chosen.error();
  auto rows = top.rows();
  if (rows.size() > limit) rows.resize(limit);
  // An empty column says nothing to people.
  const auto drop_if_empty = [&](std::string_view name, auto empty) {
    if (columns.empty() && std::all_of(rows.begin(), rows.end(), empty))
      std::erase_if(*chosen, [name](const Known* one) { return one->name == name; });
  };
  drop_if_empty("class", [](const TopRow& row) { return row.tag.empty(); });
  drop_if_empty("lib", [](const TopRow& row) { return row.module.empty(); });
  Table table;
  for (const auto* one : *chosen) {
    Column column = one->column;
    if (one->name == "function") column.key = column.title = label_of(top.options().by);
    table.columns.push_back(column);
  }
  if (top.options().by == TopBy::FirstArgument) table.columns.push_back({"arg1", "arg1", true});
  if (top.options().sum_results) table.columns.push_back({"sum_ret", "sum_ret", false});
  for (const auto& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const auto* one : *chosen)
      cells.push_back(one->cell(row, top.total()));
    if (top.options().by == TopBy::FirstArgument) cells.emplace_back(row.argument);
    if (top.options().sum_results) cells.emplace_back(row.result_sum);
  }
  return table;
}

std::string top_hint(const Top& top, const FilterTally& left_out) {
  std::uint64_t waits = 0, calls = 0;
  for (const auto& row : top.rows()) {
    if (row.tag != to_string(CallClass::Wait)) continue;
    waits += row.stats.self_ns;
    calls += row.stats.calls;
  }
  if (waits == 0) return {};
  return fmt::format("wait: {} s in {} calls, {:.1f} % of the self time of all calls: threads that "
                     "slept or were held "
                     "up; perf and offcputime say by whom\n",
                     format_seconds(waits, 4), format_count(calls),
                     part(waits, top.total().self_ns + left_out.self_ns));
}

std::string top_plain(const Top& top, std::size_t limit) {
  auto rows = top.rows();
  std::stable_sort(rows.begin(), rows.end(), [](const TopRow& a, const TopRow& b) {
    if (a.script_sum > b.script_sum || a.script_sum < b.script_sum)
      return a.script_sum > b.script_sum;
    return a.order < b.order;
  });
  std::string text = fmt::format("Top {}耗时函数:\n", limit);
  for (std::size_t i = 0; i < std::min(limit, rows.size()); ++i)
    text += fmt::format("{}: {:.4f}s\n", rows[i].label, rows[i].script_sum);
  return text;
}

std::string top_ltrace(const Top& top, std::size_t limit) {
  auto rows = top.rows();
  std::stable_sort(rows.begin(), rows.end(), [](const TopRow& a, const TopRow& b) {
    return a.stats.sum_ns > b.stats.sum_ns;
  });
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e9; };
  const std::string rule = "------ ----------- ----------- --------- --------------------\n";
  std::string text = "% time     seconds  usecs/call     calls      function\n" + rule;
  for (std::size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    const auto& stats = rows[i].stats;
    text +=
        fmt::format("{:6.2f} {:11.6f} {:11} {:9} {}\n", part(stats.sum_ns, top.total().sum_ns),
                    seconds(stats.sum_ns), stats.average_ns() / 1000, stats.calls, rows[i].label);
  }
  return text + rule +
         fmt::format("100.00 {:11.6f}             {:9} total\n", seconds(top.total().sum_ns),
                     top.total().calls);
}

} // namespace sonictrace::report
