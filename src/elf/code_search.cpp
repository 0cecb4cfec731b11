#include "elf/code_search.hpp"

#include <algorithm>

#include "elf/incoming_jumps.hpp"
#include "elf/pointer_calls.hpp"
#include "elf/sync.hpp"
#include "elf/value_flow.hpp"

namespace sonictrace::elf {
namespace {

std::uint64_t code_size(const Image& image) {
  std::uint64_t size = 0;
  for (const Segment& segment : image.segments())
    if (segment.executable) size += segment.content.size();
  return size;
}

/// Names that the compiler's start code looks for in every image, and hardly any defines. It has no
/// entries in the unwinder's table, so that its functions could only be found by symbols, which are
/// not read otherwise.
bool is_of_start_code(std::string_view name) {
  return name == "__gmon_start__" || name == "_Jv_RegisterClasses" ||
         name == "_ITM_registerTMCloneTable" || name == "_ITM_deregisterTMCloneTable";
}

} // namespace

CodeSearch::CodeSearch(const Image& image, const CodeReader& reader, CallTable& table)
    : image_(image), reader_(reader), table_(table), bounds_(image),
      is_hoisted_(table.imports.size()), is_data_(table.imports.size()),
      walk_budget_(4 * code_size(image)), flow_budget_(std::uint64_t{1} << 22) {
  for (std::size_t import = 0; import < table.imports.size(); ++import)
    is_data_[import] = is_of_start_code(table.imports[import].name);
}

void CodeSearch::search(std::span<const SlotUse> uses, const CodeArea& area) {
  while (!uses.empty()) {
    if (uses.front().kind == UseKind::Load && is_settled(uses.front().import)) {
      uses = uses.subspan(1);
      continue;
    }
    const auto range = bounds_.find(uses.front().opcode_at);
    if (!range) {
      search_unbounded(uses.front(), area);
      uses = uses.subspan(1);
      continue;
    }
    const auto end = std::find_if(uses.begin(), uses.end(),
                                  [&](const SlotUse& use) { return range->end <= use.opcode_at; });
    const auto count = static_cast<std::size_t>(end - uses.begin());
    search_function(uses.first(count), *range);
    uses = uses.subspan(count);
  }
}

void CodeSearch::search_function(std::span<const SlotUse> uses, const FunctionRange& range) {
  std::vector<SlotUse> transfers;
  for (const SlotUse& use : uses) {
    if (use.kind == UseKind::Load) {
      search_load(use, range);
    } else {
      transfers.push_back(use);
    }
  }
  if (transfers.empty() || !afford_walk(range)) return;

  FunctionWalk walk(reader_, range, code_of(range));
  walk.follow(range.begin);
  std::vector<SlotUse> unreached = add_reached(transfers, walk);
  // Blocks that only a jump table or the unwinder leads to.
  if (!unreached.empty() && (walk.has_indirect_jump() || range.has_landing_pads)) {
    for (const SlotUse& use : unreached)
      walk.follow_hidden_blocks(use.opcode_at);
    unreached = add_reached(unreached, walk);
  }
  if (!unreached.empty()) undecided_.push_back({range, std::move(unreached)});
}

void CodeSearch::finish(std::span<const CodeArea> areas) {
  if (undecided_.empty()) return;
  std::sort(undecided_.begin(), undecided_.end(),
            [](const Undecided& a, const Undecided& b) { return a.range.begin < b.range.begin; });
  std::vector<FunctionRange> ranges;
  for (const Undecided& function : undecided_)
    ranges.push_back(function.range);
  IncomingJumps jumps(std::move(ranges));
  for (const CodeArea& area : areas)
    if (!area.is_plt) jumps.scan(area.code, area.begin);

  for (const Undecided& function : undecided_) {
    if (!afford_walk(function.range)) break;
    FunctionWalk walk(reader_, function.range, code_of(function.range));
    walk.follow(function.range.begin);
    const auto targets = jumps.targets_in(function.range);
    for (const ElfAddress target : targets)
      walk.follow(target);
    // Of a function in parts, a jump table in one may lead to blocks in another.
    const bool is_part = !targets.empty() && function.range.begin < targets.back();
    if (is_part)
      for (const SlotUse& use : function.uses)
        walk.follow_hidden_blocks(use.opcode_at);
    add_reached(function.uses, walk);
  }
  undecided_.clear();
}

void CodeSearch::search_unbounded(const SlotUse& use, const CodeArea& area) {
  if (use.kind == UseKind::Load || bounds_.knows_functions()) return;
  if (const auto start = synchronized_start(reader_, area.code, area.begin, use))
    add_site(use, *start);
}

/// A load is not written to, so that it need not be shown that it is an instruction: the flow from
/// it to a call says enough.
void CodeSearch::search_load(const SlotUse& load, const FunctionRange& range) {
  if (is_settled(load.import)) return;
  const auto code = code_of(range);
  const ElfAddress begin = load.opcode_at + -1; // of the instruction: its REX prefix
  // Most loads are references to data of other libraries, which are soon read, or arguments of the
  // next call; only a few must be followed.
  const Fate fate = fate_of_load(reader_, range, code, begin);
  if (fate == Fate::Read) is_data_[load.import] = true;
  if (fate == Fate::Read || fate == Fate::Lost) return;
  if (fate != Fate::Called && (!may_call_loads(range) ||
                               !is_loaded_to_be_called(reader_, range, code, begin, flow_budget_)))
    return;
  is_hoisted_[load.import] = true;
  table_.hoisted.push_back(load.import);
}

bool CodeSearch::may_call_loads(const FunctionRange& range) {
  if (!judged_ || judged_->begin != range.begin || judged_->end != range.end) {
    judged_ = range;
    may_call_loads_ = afford_walk(range) && may_call_loaded_pointers(reader_, code_of(range));
  }
  return may_call_loads_;
}

std::vector<SlotUse> CodeSearch::add_reached(std::span<const SlotUse> uses,
                                             const FunctionWalk& walk) {
  std::vector<SlotUse> others;
  for (const SlotUse& use : uses) {
    if (const auto start = walk.start_of(use)) {
      add_site(use, *start);
    } else {
      others.push_back(use);
    }
  }
  return others;
}

std::span<const std::byte> CodeSearch::code_of(const FunctionRange& range) const {
  return image_.bytes_at(range.begin, static_cast<std::uint64_t>(range.end - range.begin));
}

bool CodeSearch::afford_walk(const FunctionRange& range) {
  const std::uint64_t cost = code_of(range).size();
  if (cost > walk_budget_) return false;
  walk_budget_ -= cost;
  return true;
}

void CodeSearch::add_site(const SlotUse& use, ElfAddress start) {
  const SiteKind kind = use.kind == UseKind::Jump ? SiteKind::Jump : SiteKind::Call;
  table_.sites.push_back(
      {start, use.import, static_cast<std::uint8_t>(use.end() - start), kind, false});
}

} // namespace sonictrace::elf
