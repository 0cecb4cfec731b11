#include "session/window.hpp"

namespace sonictrace {
namespace {

Result<std::optional<SelectorSet>> parse(const std::string& filter) {
  if (filter.empty()) return std::optional<SelectorSet>();
  SelectorOptions options;
  options.calls = {filter};
  auto set = SelectorSet::parse(options);
  if (!set) return std::move(set).error();
  return std::optional(*std::move(set));
}

} // namespace

Result<Window> Window::of(const SessionOptions& options) {
  auto start = parse(options.start_on);
  if (!start) return std::move(start).error();
  auto stop = parse(options.stop_on);
  if (!stop) return std::move(stop).error();
  Window window{*std::move(start), *std::move(stop)};
  window.has_begun = !window.start_on;
  return window;
}

} // namespace sonictrace
