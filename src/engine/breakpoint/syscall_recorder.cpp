#include "engine/breakpoint/syscall_recorder.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "sonictrace/arch/syscall_names.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/signal_mask.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kUsual = 512; ///< numbers below it are looked up in a table
constexpr FunctionId kNone = ~FunctionId{0};

/// i386's calls whose arguments come in another order, in a struct of their own, or in two words
/// where x86-64's call of that name has one.
constexpr std::array<std::string_view, 15> kOtherOnI386 = {
    "clone",          "fadvise64", "fallocate", "fanotify_mark", "ftruncate",
    "lookup_dcookie", "mmap",      "pread64",   "preadv",        "preadv2",
    "pwrite64",       "pwritev",   "pwritev2",  "readahead",     "select",
};

/// Whether the plan follows a pointer to something that is of another size for i386: a struct with
/// a long or with a pointer in it.
bool looks_at_longs(const std::vector<wire::CaptureOp>& steps) {
  std::size_t inside = 0; // of how many steps more
  for (const auto& step : steps) {
    const bool is_pointer =
        step.kind == wire::CaptureKind::Pointer || step.kind == wire::CaptureKind::Text;
    const bool is_long = step.kind == wire::CaptureKind::Value && step.size == 8;
    if (inside > 0 && (is_pointer || is_long)) return true;
    if (inside > 0) --inside;
    if (inside == 0) inside = step.body;
  }
  return false;
}

/// Whether the call sets the thread's signal mask for what comes behind it.
bool sets_mask(const OpenSyscall& call) {
  constexpr std::array<std::uint64_t, 4> kOfI386 = {119, 126, 173, 175}; // old ones among them
  if (call.machine == Machine::I386)
    return std::find(kOfI386.begin(), kOfI386.end(), call.number) != kOfI386.end();
  return call.number == SYS_rt_sigprocmask || call.number == SYS_rt_sigreturn;
}

bool fits_i386(std::string_view name, const proto::CallPlan& plan) {
  if (std::find(kOtherOnI386.begin(), kOtherOnI386.end(), name) != kOtherOnI386.end()) return false;
  return !looks_at_longs(plan.at_entry) && !looks_at_longs(plan.at_return);
}

} // namespace

void SyscallRecorder::see(const StoppedTracee& tracee, TracedThread& thread) {
  const auto stop = tracee.system_call();
  if (!stop) { // killed meanwhile, or a kernel that does not tell
    if (stop.error().is(std::errc::not_supported)) calls_.recorder().count_lost(1);
    return;
  }
  if (const auto* entry = std::get_if<SyscallEntry>(&*stop)) return enter(tracee, thread, *entry);
  leave(tracee, thread, std::get<SyscallExit>(*stop));
}

void SyscallRecorder::see_last(const StoppedTracee& tracee, TracedThread& thread) {
  const auto stop = tracee.system_call();
  if (!stop) return;
  if (const auto* exit = std::get_if<SyscallExit>(&*stop))
    leave(tracee, thread, *exit);
  else
    settle(thread);
}

void SyscallRecorder::enter(const StoppedTracee& tracee, TracedThread& thread,
                            const SyscallEntry& seen) {
  const auto seen_ns = tracee.seen_ns();
  SyscallEntry entry = seen;
  // Its instruction may be a call's return site, and so run in a slot.
  entry.at = thread.space->original_of(seen.at);
  if (thread.syscall && thread.syscall->goes_on_as(entry)) {
    thread.syscall->end.reset();
    calls_.let_go_of_syscall(thread, seen_ns);
    return;
  }
  settle(thread);
  OpenSyscall open;
  open.machine = entry.machine;
  open.number = entry.number;
  open.at = entry.at;
  open.call.function = function_of(entry.machine, entry.number);
  open.call.return_address = entry.at;
  EntryWords words;
  std::copy(entry.arguments.begin(), entry.arguments.end(), words.words.begin());
  calls_.record_enter(thread, open.call, words, seen_ns);
  if (calls_.shows_places())
    if (auto registers = tracee.registers()) {
      registers->set_pc(thread.space->original_of(registers->pc()));
      calls_.record_syscall_frames(thread, open.call, *registers, seen_ns);
    }
  calls_.let_go_of_syscall(thread, seen_ns);
  open.call.begin_ns = monotonic_ns();
  open.call.own_ns = thread.own_ns;
  thread.syscall = std::move(open);
}

void SyscallRecorder::leave(const StoppedTracee& tracee, TracedThread& thread,
                            const SyscallExit& exit) {
  const auto seen_ns = tracee.seen_ns();
  // Of a call that was begun before we looked, by another program before its exec, or by a parent.
  if (!thread.syscall) return calls_.let_go_of_syscall(thread, seen_ns);
  if (sets_mask(*thread.syscall)) see_mask(tracee, thread);
  thread.syscall->end = OpenSyscall::End{exit.result, {seen_ns, thread.own_ns}, false};
  if (!OpenSyscall::may_begin_anew(exit.result)) settle(thread);
  calls_.let_go_of_syscall(thread, seen_ns);
}

/// However the program sets its mask: here the kernel says what it is.
void SyscallRecorder::see_mask(const StoppedTracee& tracee, TracedThread& thread) {
  if (const auto mask = signal_mask(tracee.tid())) thread.trap_mask.see(*mask);
}

void SyscallRecorder::settle(TracedThread& thread) {
  if (!thread.syscall || !thread.syscall->end) return;
  const auto end = *thread.syscall->end;
  const CallRecorder::ResultWords results = {static_cast<std::uint64_t>(end.result)};
  calls_.record_syscall_return(thread, thread.syscall->call, results, end.at);
  thread.syscall.reset();
}

void SyscallRecorder::begin_anew(TracedThread& thread) {
  if (thread.syscall && thread.syscall->end) thread.syscall->end->begins_anew = true;
}

FunctionId SyscallRecorder::function_of(Machine machine, std::uint64_t number) {
  if (machine == Machine::X86_64 && number < kUsual) {
    if (usual_.empty()) usual_.resize(kUsual, kNone);
    auto& function = usual_[number];
    if (function == kNone) function = intern(machine, number);
    return function;
  }
  const auto [known, is_new] = others_.try_emplace({machine, number}, kNone);
  if (is_new) known->second = intern(machine, number);
  return known->second;
}

FunctionId SyscallRecorder::intern(Machine machine, std::uint64_t number) {
  FunctionDefinition definition;
  definition.syscall = true;
  definition.mangled =
      ltrace_names_ ? ltrace_syscall_name(machine, number) : syscall_name(machine, number);
  // One of its own, where the arguments are.
  definition.entry = machine == Machine::I386;
  auto& functions = calls_.recorder().functions();
  const FunctionId id = functions.intern(std::move(definition), {});
  auto& known = functions.at(id).definition;
  const bool is_shown = known.plan != proto::empty_plan();
  if (machine == Machine::I386 && is_shown && !fits_i386(known.mangled, *known.plan)) {
    proto::PlanOptions options;
    options.convention = proto::CallingConvention::Syscall64;
    known.plan = std::make_shared<const proto::CallPlan>(
        proto::compile(proto::Prototype::unknown(), options));
  }
  return id;
}

} // namespace sonictrace
