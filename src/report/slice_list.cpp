#include "report/slice_list.hpp"

#include <algorithm>

namespace sonictrace::report {

std::vector<Slice> SliceList::take_nested() {
  struct Around {
    std::size_t first; ///< of the slices inside
    std::uint64_t begin_ns, end_ns;
    std::uint64_t next_ns; ///< where the slice behind the one that comes begins
  };
  constexpr auto kNever = ~std::uint64_t{0};
  std::vector<Around> around = {{0, 0, kNever, kNever}};
  std::vector<std::size_t> order(slices_.size());
  // Backwards, what is around comes before what is inside, and the next before the one before it.
  for (std::size_t i = slices_.size(); i-- > 0;) {
    while (around.size() > 1 && i < around.back().first)
      around.pop_back();
    Around& outer = around.back();
    Slice& slice = slices_[i];
    slice.begin_ns = std::clamp(slice.begin_ns, outer.begin_ns, outer.next_ns);
    slice.end_ns = std::clamp(slice.end_ns, slice.begin_ns, outer.next_ns);
    slice.depth = static_cast<std::uint32_t>(around.size() - 1);
    outer.next_ns = slice.begin_ns;
    around.push_back({i - slice.inside, slice.begin_ns, slice.end_ns, slice.end_ns});
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const auto first_a = a - slices_[a].inside;
    const auto first_b = b - slices_[b].inside;
    return first_a != first_b ? first_a < first_b : slices_[a].inside > slices_[b].inside;
  });
  std::vector<Slice> nested;
  nested.reserve(order.size());
  for (const auto i : order)
    nested.push_back(slices_[i]);
  slices_ = {};
  return nested;
}

} // namespace sonictrace::report
