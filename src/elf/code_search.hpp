#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "elf/byte_scan.hpp"
#include "elf/code_areas.hpp"
#include "elf/code_reader.hpp"
#include "elf/function_bounds.hpp"
#include "elf/function_walk.hpp"
#include "sonictrace/elf/calls.hpp"

namespace sonictrace::elf {

/// Decides which of the slot uses found in ordinary code are instructions, and what they do. A use
/// that is none must never become a site: a breakpoint there would change another instruction, or
/// data. One that is missed costs its calls.
class CodeSearch {
public:
  /// Adds to the sites and the hoisted imports of `table`, in no order.
  CodeSearch(const Image& image, const CodeReader& reader, CallTable& table);

  /// `uses` are those in `area`, by address.
  void search(std::span<const SlotUse> uses, const CodeArea& area);

  /// Once, at the end: looks again at what could not be decided without all the code.
  void finish(std::span<const CodeArea> areas);

private:
  struct Undecided {
    FunctionRange range;
    std::vector<SlotUse> uses;
  };

  void search_function(std::span<const SlotUse> uses, const FunctionRange& range);
  void search_unbounded(const SlotUse& use, const CodeArea& area);
  void search_load(const SlotUse& load, const FunctionRange& range);
  bool is_settled(std::uint32_t import) const { return is_hoisted_[import] || is_data_[import]; }
  bool may_call_loads(const FunctionRange& range);
  std::vector<SlotUse> add_reached(std::span<const SlotUse> uses, const FunctionWalk& walk);
  std::span<const std::byte> code_of(const FunctionRange& range) const;
  bool afford_walk(const FunctionRange& range);
  void add_site(const SlotUse& use, ElfAddress start);

  const Image& image_;
  const CodeReader& reader_;
  CallTable& table_;
  FunctionBounds bounds_;
  std::vector<bool> is_hoisted_;        ///< by import
  std::vector<bool> is_data_;           ///< by import: loads of it need not be looked at (any more)
  std::optional<FunctionRange> judged_; ///< the last function of which `may_call_loads_` tells
  bool may_call_loads_ = false;
  std::vector<Undecided> undecided_;
  // What a file of this size may cost: hostile ones have functions that overlap without end.
  std::uint64_t walk_budget_; ///< bytes of code
  std::uint64_t flow_budget_; ///< instructions
};

} // namespace sonictrace::elf
