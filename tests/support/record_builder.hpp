#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/stream/record_writer.hpp"
#include "sonictrace/stream/sink.hpp"
#include "support/fake_memory.hpp"

namespace sonictrace {

/// Where a function is and who calls it.
struct FunctionPlace {
  ModuleId implemented_by = kNoModule;
  ModuleId caller = kNoModule;
  bool entry = false;
  bool entry_in_main = false;
  bool syscall = false;
};

/// What a call that one record tells of is, besides its function.
struct WholeCall {
  std::vector<std::uint64_t> arguments = {};
  std::uint64_t result = 0;
  std::uint64_t duration_ns = 1000;
  std::uint16_t depth = 1;
  std::uint8_t flags = 0;
  std::uint64_t return_address = 0x401184;
};

/// Plays an engine: defines functions and writes records of their calls to a sink, captured from a
/// memory of its own by the real plans. Time goes on by 1 us with each call and return.
class RecordBuilder {
public:
  explicit RecordBuilder(Sink& sink, std::uint32_t string_limit = 32) : sink_(sink) {
    plan_options_.string_limit = string_limit;
  }

  static constexpr std::uint64_t kStart = 1'796'009'218'000'000'000; ///< 03:26:58 UTC
  std::uint64_t now_ns = kStart;
  FakeMemory memory;

  ModuleId module(std::string_view soname) {
    const auto id = static_cast<ModuleId>(modules_++);
    sink_.define(ModuleDefinition{id, std::string(soname), "/lib/" + std::string(soname)});
    return id;
  }

  /// A function with the prototype of this .conf line.
  FunctionId function(std::string_view conf_line, const FunctionPlace& place = {}) {
    proto::PrototypeLibrary library;
    const auto errors = library.add(conf_line, "test.conf");
    if (!errors.empty()) throw std::invalid_argument(errors.front());
    const auto name_end = conf_line.find('(');
    auto name_begin = conf_line.find_last_of(" *", name_end) + 1;
    const auto name = conf_line.substr(name_begin, name_end - name_begin);
    return define(name, *library.find(name, {}), place);
  }

  /// A system call with the prototype of this .conf line.
  FunctionId syscall(std::string_view conf_line) {
    FunctionPlace place;
    place.syscall = true;
    return function(conf_line, place);
  }

  /// A place in code, for `frames`.
  std::uint32_t frame(std::uint64_t address, std::string_view soname = {},
                      std::string_view function = {}, std::uint64_t offset = 0) {
    const std::uint32_t id = frames_++;
    sink_.define(FrameDefinition{id, address, std::string(soname), std::string(function), offset});
    return id;
  }

  /// A line of a Python function.
  std::uint32_t python_frame(std::string_view function, std::string_view file, std::uint32_t line) {
    FrameDefinition frame{frames_++, 0, "", std::string(function), 0};
    frame.is_python = true;
    frame.file = file;
    frame.line = line;
    sink_.define(frame);
    return frame.id;
  }

  /// A function of which nothing is known.
  FunctionId unknown(std::string_view mangled, const FunctionPlace& place = {}) {
    return define(mangled, proto::Prototype::unknown(), place);
  }

  void rebind(FunctionId function, ModuleId implemented_by, bool is_misread = false) {
    sink_.define(FunctionRebound{function, implemented_by, is_misread});
  }

  void thread(pid_t tid, bool first = false) { thread_of(tid, tid, first); }
  void thread_of(pid_t pid, pid_t tid, bool first = false) {
    sink_.define(ThreadStarted{pid, tid, now_ns, first});
  }

  /// A call begins. Arguments that are not given are 0; those in vector registers too.
  std::uint64_t enter(pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments = {},
                      std::uint64_t return_address = 0x401184) {
    const std::uint64_t call = next_call_++;
    auto& open = open_[tid];
    open.push_back({call, function, now_ns});
    enter_as(tid, function, call, static_cast<std::uint16_t>(open.size()), std::move(arguments),
             return_address);
    return call;
  }

  void enter_as(pid_t tid, FunctionId function, std::uint64_t call, std::uint16_t depth,
                std::vector<std::uint64_t> arguments, std::uint64_t return_address = 0x401184) {
    const proto::CallPlan& plan = *plans_.at(function);
    std::vector<std::uint64_t>& words = words_[call];
    words = entry_words(arguments);
    const auto room = buffer_.enter(static_cast<std::uint32_t>(tid), function, call, depth, now_ns,
                                    return_address, plan.entry_room);
    buffer_.commit(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(),
                                     view(words, wire::kStackWordsAt), memory, room.data(),
                                     room.size()));
    send();
  }

  /// Where the innermost call of the thread was made: to be told just behind its `enter`.
  void frames(pid_t tid, std::vector<std::uint32_t> ids) {
    const Open& innermost = open_.at(tid).back();
    buffer_.frames(static_cast<std::uint32_t>(tid), innermost.function, innermost.call,
                   static_cast<std::uint16_t>(open_.at(tid).size()), innermost.time_ns, ids);
    sink_.write(buffer_.batch());
    buffer_.clear();
  }

  /// The innermost call of the thread returns.
  void leave(pid_t tid, std::uint64_t result = 0) {
    const Open innermost = take(tid);
    leave_as(tid, innermost.function, innermost.call,
             static_cast<std::uint16_t>(open_[tid].size() + 1), result, now_ns - innermost.time_ns);
  }

  void leave_as(pid_t tid, FunctionId function, std::uint64_t call, std::uint16_t depth,
                std::uint64_t result, std::uint64_t duration_ns) {
    const proto::CallPlan& plan = *plans_.at(function);
    const std::vector<std::uint64_t> words = return_words(result, words_[call]);
    words_.erase(call);
    const auto room = buffer_.leave(static_cast<std::uint32_t>(tid), function, call, depth, now_ns,
                                    duration_ns, plan.return_room);
    buffer_.commit(wire::run_capture(plan.at_return.data(), plan.at_return.size(),
                                     view(words, wire::kKeptWordsAt + wire::kStackWordsAt), memory,
                                     room.data(), room.size()));
    send();
  }

  /// The same as `call`, told by one record; time goes on as there.
  void whole_call(pid_t tid, FunctionId function, const WholeCall& call = {}) {
    const proto::CallPlan& plan = *plans_.at(function);
    const bool returned = call.flags == 0;
    const std::vector<std::uint64_t> entry = entry_words(call.arguments);
    const auto room = buffer_.call({static_cast<std::uint32_t>(tid), function, call.depth,
                                    call.flags, now_ns, call.duration_ns, call.return_address},
                                   plan.entry_room + plan.return_room);
    const std::size_t entry_size =
        wire::run_capture(plan.at_entry.data(), plan.at_entry.size(),
                          view(entry, wire::kStackWordsAt), memory, room.data(), plan.entry_room);
    std::size_t used = entry_size;
    if (returned) {
      const std::vector<std::uint64_t> leave = return_words(call.result, entry);
      used += wire::run_capture(plan.at_return.data(), plan.at_return.size(),
                                view(leave, wire::kKeptWordsAt + wire::kStackWordsAt), memory,
                                room.data() + entry_size, plan.return_room);
    }
    buffer_.commit_call(entry_size, used);
    send();
    now_ns += 1000;
  }

  /// Calls that were only counted.
  void counts(pid_t tid, FunctionId function, wire::CountsPayload sums,
              const std::vector<wire::CountedBucket>& buckets = {}) {
    buffer_.counts(static_cast<std::uint32_t>(tid), function, now_ns, sums, buckets);
    send();
  }

  /// The innermost call of the thread is left by an exception or a longjmp.
  void unwind(pid_t tid) {
    const Open innermost = take(tid);
    buffer_.unwound(static_cast<std::uint32_t>(tid), innermost.function, innermost.call,
                    static_cast<std::uint16_t>(open_[tid].size() + 1), now_ns,
                    now_ns - innermost.time_ns);
    send();
  }

  /// A whole call without anything inside.
  void call(pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments = {},
            std::uint64_t result = 0, std::uint64_t return_address = 0x401184) {
    enter(tid, function, std::move(arguments), return_address);
    leave(tid, result);
  }

  /// A followed child is born in the innermost open calls of `parent`.
  void fork(pid_t parent, pid_t child) {
    thread(child);
    std::uint16_t depth = 1;
    for (const Open& open : open_[parent]) {
      const std::uint64_t call = next_call_++;
      open_[child].push_back({call, open.function, open.time_ns});
      words_[call] = words_[open.call];
      sink_.define(InheritedCall{child, open.function, call, depth++, open.call});
    }
  }

  void exec(pid_t tid) {
    open_[tid].clear();
    sink_.define(ProgramReplaced{tid, now_ns, 0x7f65e1296b70});
  }
  void signal(pid_t tid, int number) {
    sink_.define(SignalDelivered{tid, now_ns, number, 0x7fa5d0c69eec});
  }
  void exited(pid_t tid, int status = 0) {
    open_[tid].clear();
    sink_.define(ThreadEnded{tid, now_ns, status, false, true});
  }
  void killed(pid_t tid, int by) {
    open_[tid].clear();
    sink_.define(ThreadEnded{tid, now_ns, by, true, true});
  }
  void remark(std::string_view text) { sink_.define(Remark{now_ns, std::string(text)}); }

private:
  struct Open {
    std::uint64_t call;
    FunctionId function;
    std::uint64_t time_ns;
  };

  static std::vector<std::uint64_t> entry_words(const std::vector<std::uint64_t>& arguments) {
    const std::size_t in_registers = std::min<std::size_t>(arguments.size(), 6);
    std::vector<std::uint64_t> words(wire::kEntryWords, 0);
    std::copy_n(arguments.begin(), in_registers, words.begin());
    words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(in_registers),
                 arguments.end());
    words.resize(words.size() + 8);
    return words;
  }
  static std::vector<std::uint64_t> return_words(std::uint64_t result,
                                                 const std::vector<std::uint64_t>& entry) {
    std::vector<std::uint64_t> words(wire::kKeptWordsAt / 8, 0);
    words[0] = result;
    words.insert(words.end(), entry.begin(), entry.end());
    return words;
  }

  static wire::CallWords view(const std::vector<std::uint64_t>& words, std::uint32_t stack_at) {
    return {words.data(), static_cast<std::uint32_t>(words.size() * sizeof words[0]), stack_at, 0};
  }

  FunctionId define(std::string_view name, const proto::Prototype& prototype,
                    const FunctionPlace& place) {
    const auto id = static_cast<FunctionId>(plans_.size());
    plans_.push_back(
        std::make_shared<const proto::CallPlan>(proto::compile(prototype, plan_options_)));
    FunctionDefinition definition;
    definition.id = id;
    definition.mangled = name;
    definition.caller = place.caller;
    definition.implemented_by = place.implemented_by;
    definition.entry = place.entry;
    definition.entry_in_main = place.entry_in_main;
    definition.syscall = place.syscall;
    definition.plan = plans_.back();
    sink_.define(definition);
    return id;
  }

  Open take(pid_t tid) {
    auto& open = open_[tid];
    if (open.empty()) throw std::logic_error("no call is open");
    const Open innermost = open.back();
    open.pop_back();
    return innermost;
  }

  void send() {
    sink_.write(buffer_.batch());
    buffer_.clear();
    now_ns += 1000;
  }

  Sink& sink_;
  proto::PlanOptions plan_options_;
  RecordBuffer buffer_;
  std::uint64_t next_call_ = 1;
  std::size_t modules_ = 0;
  std::uint32_t frames_ = 0;
  std::vector<std::shared_ptr<const proto::CallPlan>> plans_; ///< by FunctionId
  std::map<pid_t, std::vector<Open>> open_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> words_; ///< at the entry, of each open call
};

} // namespace sonictrace
