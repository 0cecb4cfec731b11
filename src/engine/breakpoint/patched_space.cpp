#include "engine/breakpoint/patched_space.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

constexpr std::byte kInt3{0xcc};

} // namespace

std::unique_ptr<PatchedSpace> PatchedSpace::copy_for(std::shared_ptr<AddressSpace> child) const {
  auto copy = std::make_unique<PatchedSpace>(*this);
  copy->space_ = std::move(child);
  return copy;
}

Breakpoint* PatchedSpace::find(TraceeAddress at) {
  const auto found = breakpoints_.find(at.value());
  return found == breakpoints_.end() ? nullptr : &found->second;
}

std::vector<std::byte> PatchedSpace::original_bytes(TraceeAddress from, std::size_t size) const {
  std::vector<std::byte> bytes(size);
  bytes.resize(space_->memory().read_some(from, bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != kInt3) continue;
    const auto ours = breakpoints_.find(from.value() + i);
    if (ours != breakpoints_.end()) bytes[i] = ours->second.original;
  }
  return bytes;
}

Result<Breakpoint*> PatchedSpace::insert(TraceeAddress at) {
  if (Breakpoint* known = find(at)) return known;
  const auto code = original_bytes(at, DisplacedInstruction::kLongest);
  if (code.empty())
    return Error(std::errc::bad_address, fmt::format("no code at {:#x}", at.value()));
  auto instruction = DisplacedInstruction::decode(code, at);
  if (!instruction) return std::move(instruction).error();

  Breakpoint breakpoint(*instruction);
  breakpoint.original = code.front();
  if (auto done = space_->memory().write(at, std::span(&kInt3, 1)); !done)
    return std::move(done).error();
  retired_.erase(at.value());
  return &breakpoints_.emplace(at.value(), std::move(breakpoint)).first->second;
}

Result<Breakpoint*> PatchedSpace::insert_return_site(TraceeAddress at) {
  if (Breakpoint* known = find(at)) return known;
  const bool is_code = std::any_of(code_.begin(), code_.end(),
                                   [at](const AddressRange& range) { return range.contains(at); });
  if (!is_code) {
    const auto mapping = space_->mapping_at(at);
    if (!mapping || !mapping->executable)
      return Error(std::errc::bad_address, fmt::format("no code at {:#x}", at.value()));
    code_.push_back(mapping->range);
  }
  return insert(at);
}

Result<void> PatchedSpace::make_passable(Breakpoint& breakpoint,
                                         std::optional<StoppedTracee>& tracee,
                                         std::optional<Exit>& killed) {
  if (breakpoint.can_pass()) return {};
  const auto near = breakpoint.instruction.rip_relative_target();
  auto at = slots_.take(near);
  if (!at) {
    // Near its own code where nothing else is asked for: operands of its neighbours will be there.
    if (auto mapped = map_area(near ? near : breakpoint.at, tracee, killed); !mapped) return mapped;
    at = slots_.take(near);
    if (!at)
      return Error(std::errc::result_out_of_range,
                   fmt::format("no room within 2 GB of {:#x}", breakpoint.at.value()));
  }
  auto content = breakpoint.instruction.relocate(*at);
  if (!content) return std::move(content).error();
  if (auto written = space_->memory().write(*at, content->bytes); !written) return written;
  slots_.note({*at, breakpoint.at, content->copy_size});
  breakpoint.slot = *at;
  return {};
}

Result<std::uint64_t> PatchedSpace::call_in(std::optional<StoppedTracee>& tracee,
                                            std::optional<Exit>& killed, long number,
                                            std::array<std::uint64_t, 6> arguments,
                                            std::optional<PassedMemory> passed) {
  // Each time, as it may be in a module that goes. Such calls are rare.
  const auto code = find_calling_code(space_->pid(), space_->memory());
  if (!code) return code.error();
  // Where it will be is not known yet. A filter hardly tells one place on a stack from another.
  if (const auto registers = tracee->registers(); passed && registers)
    arguments[passed->argument] = registers->sp().value();
  if (!may_call(tracee->tid(), number, arguments, code->at))
    return Error(std::errc::operation_not_permitted,
                 fmt::format("remote system call {} (a seccomp filter is in force)", number));
  auto outcome = remote_call(*std::move(tracee), *space_, *code, number, arguments, passed);
  tracee.reset();
  if (auto* exit = std::get_if<Exit>(&outcome.tracee)) {
    killed = *exit;
    return Error(std::errc::no_such_process, "the thread was killed");
  }
  tracee.emplace(std::get<StoppedTracee>(std::move(outcome.tracee)));
  return std::move(outcome.value);
}

Result<void> PatchedSpace::map_area(std::optional<TraceeAddress> near,
                                    std::optional<StoppedTracee>& tracee,
                                    std::optional<Exit>& killed) {
  if (mapping_refused_)
    return Error(std::errc::operation_not_permitted, "a page for displaced instructions");
  auto mappings = read_mappings(space_->pid());
  if (!mappings) return std::move(mappings).error();
  if (const auto left = find_left_area(*mappings, near)) return add_area(*left);
  constexpr std::uint64_t kReach = std::uint64_t{1} << 30;
  const auto gap =
      find_gap(*mappings, near.value_or(TraceeAddress()), SlotPages::kAreaSize, kReach);
  if (!gap) return Error(std::errc::not_enough_memory, "no gap for displaced instructions");
  auto mapped = call_in(tracee, killed, SYS_mmap,
                        {gap->value(), SlotPages::kAreaSize, PROT_READ | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0});
  if (!mapped) {
    mapping_refused_ = mapped.error().is(std::errc::operation_not_permitted);
    return std::move(mapped).error();
  }
  return add_area(TraceeAddress(*mapped));
}

/// An area that an earlier session has left.
std::optional<TraceeAddress> PatchedSpace::find_left_area(const std::vector<Mapping>& mappings,
                                                          std::optional<TraceeAddress> near) const {
  constexpr std::int64_t kPage = 4096;
  constexpr std::int64_t kMost = 1024; // pages of a mapping, which several areas may have become
  for (const auto& mapping : mappings) {
    if (!mapping.executable || mapping.writable || mapping.inode != 0 || !mapping.path.empty())
      continue;
    const TraceeAddress begin = mapping.range.begin();
    for (std::int64_t page = 0; page < kMost; ++page) {
      const TraceeAddress at = begin + page * kPage;
      if (at + static_cast<std::int64_t>(SlotPages::kAreaSize) > mapping.range.end()) break;
      SlotAreaHead head;
      if (SlotPages::is_area_near(at, near) &&
          space_->memory().read(at, std::as_writable_bytes(std::span(&head, 1))) &&
          head.is_free_at(at))
        return at;
    }
  }
  return std::nullopt;
}

Result<void> PatchedSpace::add_area(TraceeAddress begin) {
  const SlotAreaHead head{SlotAreaHead::kMagic, begin, SlotAreaHead::State::Taken, 0};
  if (auto done = space_->memory().write(begin, std::as_bytes(std::span(&head, 1))); !done)
    return done;
  slots_.add_area(begin);
  return {};
}

void PatchedSpace::give_back_slots() const {
  if (!is_removed_) return;
  for (const TraceeAddress begin : slots_.areas()) {
    const SlotAreaHead head{SlotAreaHead::kMagic, begin, SlotAreaHead::State::Free, 0};
    (void)space_->memory().write(begin, std::as_bytes(std::span(&head, 1)));
  }
}

void PatchedSpace::take_out(TraceeAddress at, std::byte original) {
  std::byte now{};
  // Only where our int3 still stands: the program may have mapped something else there.
  if (space_->memory().read(at, std::span(&now, 1)) && now == kInt3)
    (void)space_->memory().write(at, std::span(&original, 1));
}

void PatchedSpace::retire(TraceeAddress at) {
  const auto found = breakpoints_.find(at.value());
  if (found == breakpoints_.end()) return;
  take_out(at, found->second.original);
  retired_.insert_or_assign(at.value(), found->second.original);
  breakpoints_.erase(found);
}

void PatchedSpace::remove_marks(Mark mark) {
  std::vector<TraceeAddress> idle;
  for (auto& [at, breakpoint] : breakpoints_)
    if (std::erase(breakpoint.marks, mark) > 0 && breakpoint.marks.empty() &&
        breakpoint.probes.empty())
      idle.push_back(breakpoint.at);
  for (const auto at : idle)
    retire(at);
}

void PatchedSpace::remove_all() {
  is_removed_ = true;
  for (const auto& [at, breakpoint] : breakpoints_)
    retired_.insert_or_assign(at, breakpoint.original);
  breakpoints_.clear();
  // Those that were retired before as well: a fork may have copied them, and be heard of only now.
  for (const auto& [at, original] : retired_)
    take_out(TraceeAddress(at), original);
  if (!step_area_content_.empty()) (void)space_->memory().write(*step_area_, step_area_content_);
  step_area_content_.clear();
}

void PatchedSpace::forget_range(AddressRange range) {
  const auto is_in = [&](const auto& entry) { return range.contains(TraceeAddress(entry.first)); };
  code_.clear(); // mappings have changed
  std::erase_if(breakpoints_, is_in);
  std::erase_if(retired_, is_in);
}

TraceeAddress PatchedSpace::original_of(TraceeAddress pc) const {
  const Slot* slot = slots_.slot_at(pc);
  if (slot == nullptr) return pc;
  const auto found = breakpoints_.find(slot->original.value());
  if (found != breakpoints_.end())
    return found->second.instruction.original_of(slot->at, slot->copy_size, pc);
  // After remove_all: the same rule, without the instruction.
  return pc == slot->at ? slot->original
                        : slot->original + static_cast<std::int64_t>(slot->copy_size);
}

} // namespace sonictrace
