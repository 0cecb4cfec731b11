#include "log/reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "log/closing_line.hpp"

namespace sonictrace::log {
namespace {

/// Calls that one thread may have open; a log that begins more, and ends none, is of no program.
constexpr std::size_t kMostOpen = 10'000;
constexpr std::size_t kArgumentsKept = 4096; ///< bytes

/// Whether a function returns in a process of its own too.
bool is_birth(std::string_view name) {
  while (name.starts_with('_'))
    name.remove_prefix(1);
  return name == "fork" || name == "vfork" || name == "Fork" || name == "libc_fork" ||
         name == "clone" || name == "clone3" || name == "forkpty" || name == "daemon";
}

std::uint16_t depth_of(const ThreadState& thread) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(thread.open.size(), 0xffff));
}

} // namespace

Result<void> LogReader::Reading::pump(CallVisitor& visitor) {
  visitor_ = &visitor;
  BlockPipeline pipeline(input_, options_.jobs, FunctionTable::kCapacity);
  ids_.resize(pipeline.workers());
  Result<void> read;
  for (;;) {
    auto block = pipeline.next();
    if (!block) read = std::move(block).error();
    if (!block || *block == nullptr) break;
    take(**block);
  }
  // In the order of the tids, so that two runs on one log say the same.
  std::vector<ThreadState*> left;
  threads_.for_each([&left](ThreadState& thread) { left.push_back(&thread); });
  std::sort(left.begin(), left.end(), [](auto* a, auto* b) { return a->tid < b->tid; });
  for (auto* thread : left)
    abandon(*thread, 0);
  account_.threads = threads_.seen();
  account_.is_cut = input_.is_cut();
  account_.functions_overflowed = functions_.has_overflowed();
  return read;
}

void LogReader::Reading::take(const Block& block) {
  auto& ids = ids_[block.worker];
  for (const auto first : block.firsts)
    ids.push_back(
        functions_.find_or_add(block.records[first].line.name(block.text(block.records[first]))));
  for (const auto& bad : block.first_bad)
    if (account_.first_skipped.size() < Block::kSkippedKept)
      skip(account_.lines + bad.number + 1, block.text(bad));
  for (auto id = static_cast<FunctionId>(is_birth_.size()); id < functions_.size(); ++id)
    is_birth_.push_back(is_birth(functions_[id].name));
  account_.skipped += block.bad;
  account_.timed_lines += block.bad_timed;
  account_.markers += block.blank;
  for (const auto& record : block.records) {
    const auto text = block.text(record);
    FunctionId function = FunctionTable::kOtherFunctions;
    if (record.function != NameTable::kFull)
      function = ids[record.function];
    else if (record.line.kind <= LineKind::Resumed)
      function = functions_.find_or_add(record.line.name(text));
    if (function >= is_birth_.size()) is_birth_.resize(function + 1); // one of very many
    take_line(record, text, function, account_.lines + record.number + 1);
  }
  account_.lines += block.lines;
  account_.bytes += block.size;
}

void LogReader::Reading::take_line(const Record& record, std::string_view text, FunctionId function,
                                   std::uint64_t number) {
  const Line& line = record.line;
  Moment now = {number, clock_.time_of(line), number << IndentKeys::kShift};
  if (now.time_ns != kNoTime) {
    note_time(now.time_ns, line);
    // -r counts from the line before, whatever order the lines stand in.
    if (line.clock != Clock::Relative) now.key = last_time_ = now.time_ns;
  } else if (last_time_ != 0) {
    now.key = last_time_; // a line of another writer: not before all others
  }
  if (line.duration_ns != kNoDuration) ++account_.timed_lines;
  switch (line.kind) {
    case LineKind::Call: take_call(line, text, function, now); break;
    case LineKind::Begun:
    case LineKind::NoReturn: begin_call(line, text, function, now); break;
    case LineKind::Resumed: resume_call(line, text, function, now); break;
    default: take_event(line, text, now); break;
  }
}

void LogReader::Reading::note_time(std::uint64_t time_ns, const Line& line) {
  if (account_.first_ns == kNoTime) {
    account_.first_ns = account_.last_ns = time_ns;
    account_.clock = line.clock;
    account_.fraction_digits = line.fraction_digits;
  }
  account_.first_ns = std::min(account_.first_ns, time_ns);
  // The time of a resumed line is that of the return.
  const bool is_entry = line.kind == LineKind::Call && line.duration_ns != kNoDuration;
  account_.last_ns = std::max(account_.last_ns, is_entry ? time_ns + line.duration_ns : time_ns);
}

void LogReader::Reading::take_call(const Line& line, std::string_view text, FunctionId function,
                                   const Moment& now) {
  ThreadState& thread = threads_.thread(line.tid);
  thread.is_new = false;
  Call call;
  call.function = function;
  call.tid = line.tid;
  call.end = line.unwound ? Call::End::Unwound : Call::End::Returned;
  call.depth = depth_of(thread);
  call.line = now.number;
  call.entry_ns = now.time_ns;
  call.caller = line.caller(text);
  call.text = text;
  call.parts = line;
  const bool is_by_line = now.key == now.number << IndentKeys::kShift;
  const EntryKey key = is_by_line ? thread.indents.key_of(line.indent, now.key) : now.key;
  finish_duration(call, thread, key, thread.ended.take_inside(key, thread.floor()));
  if (is_birth_[function]) {
    OpenCall birth;
    birth.function = function;
    birth.key = key;
    birth.entry_ns = now.time_ns;
    note_birth(thread, birth);
  }
  ++account_.calls;
  account_.unwound += line.unwound ? 1 : 0;
  visitor_->on_call(call);
}

void LogReader::Reading::finish_duration(Call& call, ThreadState& thread, EntryKey key,
                                         const EndedCalls::Inside& inside) {
  call.children = inside.calls;
  call.duration_ns = call.parts.duration_ns;
  const std::uint64_t total = call.has_duration() ? call.duration_ns : 0;
  thread.ended.push(key, total, thread.floor());
  if (!call.has_duration()) return;
  ++account_.timed_calls;
  // The times were taken at different points: what is inside may seem to take longer.
  call.self_ns = total - std::min(total, inside.total_ns);
  call.outermost_ns = total - threads_.same_function_inside(thread, call.function, key, total);
}

void LogReader::Reading::begin_call(const Line& line, std::string_view text, FunctionId function,
                                    const Moment& now) {
  ThreadState& thread = threads_.thread(line.tid);
  thread.is_new = false;
  if (thread.open.size() >= kMostOpen) abandon(thread, 0);
  thread.indents.cut(line.indent);
  OpenCall open;
  open.function = function;
  open.key = now.key;
  open.entry_ns = now.time_ns;
  open.line = now.number;
  open.floor = thread.ended.size();
  open.no_return = line.kind == LineKind::NoReturn;
  open.caller = line.caller(text);
  if (options_.keep_arguments)
    open.arguments = split_call(text, line).arguments.substr(0, kArgumentsKept);
  if (open.no_return)
    ++account_.calls;
  else
    ++account_.markers;
  Call call;
  call.function = function;
  call.tid = line.tid;
  call.end = Call::End::Unfinished;
  call.depth = depth_of(thread);
  call.line = now.number;
  call.entry_ns = now.time_ns;
  call.caller = open.caller;
  call.text = text;
  call.parts = line;
  visitor_->on_begin(call);
  thread.open.push_back(std::move(open));
}

/// A forked child begins with the ends of the calls that it was born in, which its parent has
/// begun.
void LogReader::Reading::inherit(ThreadState& thread, std::string_view name) {
  const std::vector<OpenCall>* parents = nullptr;
  threads_.for_each([&](const ThreadState& other) {
    if (&other == &thread) return;
    if (!other.open.empty() && functions_[other.open.back().function].name == name)
      parents = &other.open;
  });
  // Its parent may have come back before.
  if (parents == nullptr && !last_birth_.empty() &&
      functions_[last_birth_.back().function].name == name)
    parents = &last_birth_;
  if (parents == nullptr) return;
  thread.open = *parents;
  for (auto& open : thread.open) {
    open.floor = 0;
    open.is_inherited = true;
  }
}

/// The calls that are open when a process is born, the one that does it last. On the parent's line
/// they may be over already.
void LogReader::Reading::note_birth(const ThreadState& thread, const OpenCall& birth) {
  last_birth_.assign(thread.open.begin(), thread.open.end());
  if (last_birth_.empty() || &thread.open.back() != &birth) last_birth_.push_back(birth);
}

void LogReader::Reading::resume_call(const Line& line, std::string_view text, FunctionId function,
                                     const Moment& now) {
  ThreadState& thread = threads_.thread(line.tid);
  const auto is_it = [&](const OpenCall& open) {
    // The beginning has NAME@SONAME, the end has NAME.
    return open.function == function || functions_[open.function].name == functions_[function].name;
  };
  if (thread.is_new) inherit(thread, functions_[function].name);
  thread.is_new = false;
  const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(), is_it);
  if (found == thread.open.rend()) {
    ++account_.unmatched;
    return;
  }
  const auto place = static_cast<std::size_t>(found.base() - thread.open.begin()) - 1;
  abandon(thread, place + 1); // jumped over, or their ends are not in the log
  thread.indents.cut(line.indent);
  if (is_birth_[function]) note_birth(thread, thread.open.back());
  const OpenCall open = std::move(thread.open.back());
  thread.open.pop_back();
  tell_ended(thread, open, line, text, now, thread.ended.take_all(open.floor));
  if (open.no_return && !open.is_inherited)
    ++account_.markers; // counted at its beginning
  else
    ++account_.calls;
}

void LogReader::Reading::tell_ended(ThreadState& thread, const OpenCall& open, const Line& line,
                                    std::string_view text, const Moment& now,
                                    EndedCalls::Inside inside) {
  Call call;
  call.function = open.function;
  call.tid = thread.tid;
  call.end = line.unwound ? Call::End::Unwound : Call::End::Returned;
  call.depth = depth_of(thread);
  call.line = now.number;
  call.entry_ns = open.entry_ns;
  call.caller = open.caller;
  call.text = text;
  call.parts = line;
  std::string arguments;
  if (options_.keep_arguments) {
    // The second line has those from the first out parameter on, and is empty where there is none.
    arguments = open.arguments;
    auto more = split_call(text, line).arguments;
    while (more.starts_with(',') || more.starts_with(' '))
      more.remove_prefix(1);
    if (!more.empty()) {
      while (arguments.ends_with(',') || arguments.ends_with(' '))
        arguments.pop_back();
      if (!arguments.empty()) arguments += ", ";
      arguments += more;
    }
  }
  call.split_arguments = arguments;
  finish_duration(call, thread, open.key, inside);
  ++account_.split;
  account_.unwound += line.unwound ? 1 : 0;
  visitor_->on_call(call);
}

/// Calls that are open and will not end, from the innermost one on.
void LogReader::Reading::abandon(ThreadState& thread, std::size_t from) {
  while (thread.open.size() > from) {
    const OpenCall open = std::move(thread.open.back());
    thread.open.pop_back();
    if (open.is_inherited) continue; // the parent's
    Call call;
    call.function = open.function;
    call.tid = thread.tid;
    call.end = open.no_return ? Call::End::NoReturn : Call::End::Unfinished;
    call.depth = depth_of(thread);
    call.line = open.line;
    call.entry_ns = open.entry_ns;
    call.caller = open.caller;
    call.split_arguments = open.arguments;
    ++(open.no_return ? account_.no_return : account_.unfinished);
    visitor_->on_call(call);
  }
}

void LogReader::Reading::take_event(const Line& line, std::string_view text, const Moment& now) {
  ++account_.markers;
  switch (line.kind) {
    case LineKind::Frame: {
      const auto mark = text.find("> ");
      if (mark == std::string_view::npos) return; // the source of the frame before
      visitor_->on_frame(text.substr(mark + 2));
      return;
    }
    case LineKind::ModuleOf: {
      const auto known = split_module(text, line);
      functions_.set_module(known.function, known.module);
      return;
    }
    case LineKind::Thinned: {
      const auto thinned = split_thinned(text, line);
      if (thinned.function.empty()) break;
      Function& function = functions_[functions_.find_or_add(thinned.function)];
      function.thinned_calls += thinned.calls;
      function.thinned_ns += thinned.total_ns;
      account_.thinned_calls += thinned.calls;
      account_.thinned_ns += thinned.total_ns;
      return;
    }
    case LineKind::Closing: {
      const auto closing = read_closing_line(line.name(text));
      account_.is_closed = true;
      account_.lost += closing.lost;
      account_.own_cost_ns = closing.own_cost_ns;
      break;
    }
    case LineKind::Exited: {
      ThreadState& thread = threads_.thread(line.tid);
      abandon(thread, 0);
      threads_.end_thread(thread); // its number may be another one's next
      break;
    }
    case LineKind::Exec: {
      ThreadState& thread = threads_.thread(line.tid);
      abandon(thread, 0);
      thread.ended.clear();
      thread.indents.clear();
      break;
    }
    default: break;
  }
  visitor_->on_event({line.kind, line.tid, now.time_ns, now.number, line.name(text)});
}

void LogReader::Reading::skip(std::uint64_t number, std::string_view text) {
  constexpr std::size_t kShown = 120;
  SkippedLine skipped{number, std::string(text.substr(0, kShown))};
  for (char& c : skipped.text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  account_.first_skipped.push_back(std::move(skipped));
}

} // namespace sonictrace::log
