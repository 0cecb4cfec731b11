#include "engine/inline/injected_agent.hpp"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "engine/inline/area_directory.hpp"
#include "engine/inline/areas.hpp"
#include "engine/inline/functions_apart.hpp"
#include "engine/inline/left_agent.hpp"
#include "engine/inline/site_writer.hpp"
#include "sonictrace/probe/image_cache.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "support/compile.hpp"

namespace sonictrace {
namespace {

using wire::AgentPrivate;

/// An agent that counts calls in its private data and lets them go on.
constexpr std::size_t kCounterAt = AgentPrivate::kBlocksAt;
std::vector<std::byte> counting_agent() {
  std::vector<std::byte> text(512, std::byte{0xcc});
  wire::AgentHeader header{};
  std::memcpy(header.magic, "sonicagt", 8);
  header.version = wire::kAgentVersion;
  header.text_size = static_cast<std::uint32_t>(text.size());
  constexpr std::uint32_t kEnter = 256, kSyscall = 320;
  header.enter = header.find_object = header.iterate_phdr = header.backtrace = kEnter;
  header.syscall = kSyscall;
  std::memcpy(text.data(), &header, sizeof header);
  // f0 48 ff 05 rel32  lock incq counter(%rip)
  // 48 83 c4 08        add $8,%rsp
  // 4d 8b 1b           mov (%r11),%r11
  // 41 ff 23           jmp *(%r11)
  std::uint8_t enter[] = {0xf0, 0x48, 0xff, 0x05, 0,    0,    0,    0,    0x48,
                          0x83, 0xc4, 0x08, 0x4d, 0x8b, 0x1b, 0x41, 0xff, 0x23};
  const auto counter = static_cast<std::int32_t>(wire::kAgentTextRoom + kCounterAt - (kEnter + 8));
  std::memcpy(enter + 4, &counter, sizeof counter);
  std::memcpy(text.data() + kEnter, enter, sizeof enter);
  // 0f 05 c3  syscall; ret
  constexpr std::uint8_t kCode[] = {0x0f, 0x05, 0xc3};
  std::memcpy(text.data() + kSyscall, kCode, sizeof kCode);
  return text;
}

/// A thread of the test's, by its token.
struct Traced {
  pid_t pid = 0;
  std::shared_ptr<AddressSpace> space;
  std::optional<StoppedTracee> stopped;
  std::optional<Exit> killed;

  void adopt(StoppedTracee::Outcome outcome) {
    stopped.reset();
    if (auto* token = std::get_if<StoppedTracee>(&outcome))
      stopped.emplace(std::move(*token));
    else
      killed = std::get<Exit>(outcome);
  }
  void wait() {
    auto next = StoppedTracee::wait(pid);
    if (next) adopt(*std::move(next));
  }
  /// Lets it run to its end, passing signals on.
  Stop run_to_end() {
    while (stopped) {
      const Stop stop = stopped->stop();
      const bool signal = stop.kind == StopKind::SignalDelivery && stop.detail != SIGTRAP;
      (void)std::move(*stopped).resume(signal ? stop.detail : 0);
      wait();
    }
    return killed ? killed->stop : Stop{};
  }
  ~Traced() {
    if (!stopped) return;
    ::kill(pid, SIGKILL);
    (void)std::move(*stopped).resume();
    wait();
  }
};

/// Stops where the program begins, with all its libraries there.
void launch_to_entry(Traced& traced, std::vector<std::string> command) {
  LaunchOptions options;
  options.command = std::move(command);
  const auto launched = launch(options);
  ASSERT_TRUE(std::holds_alternative<pid_t>(launched));
  traced.pid = std::get<pid_t>(launched);
  traced.wait();
  ASSERT_TRUE(traced.stopped);
  traced.space = *AddressSpace::open(traced.pid);
  const auto entry = read_auxiliary_vector(traced.pid)->entry;
  const auto& memory = traced.space->memory();
  const auto original = memory.read_word(entry);
  ASSERT_TRUE(original);
  ASSERT_TRUE(memory.write_word(entry, (*original & ~std::uint64_t{0xff}) | 0xcc));
  (void)std::move(*traced.stopped).resume();
  traced.wait();
  ASSERT_TRUE(traced.stopped);
  ASSERT_EQ(traced.stopped->stop(), (Stop{StopKind::SignalDelivery, SIGTRAP}));
  ASSERT_TRUE(memory.write_word(entry, *original));
  auto registers = traced.stopped->registers();
  registers->set_pc(entry);
  ASSERT_TRUE(traced.stopped->set_registers(*registers));
}

Result<InjectedAgent> inject(Traced& traced, bool counting = false) {
  static const auto bytes = counting_agent();
  RemoteCaller caller(traced.space, traced.stopped, traced.killed);
  return InjectedAgent::inject(caller, *AgentImage::of(bytes), {}, counting);
}

bool has_writable_code(pid_t pid) {
  const auto mappings = *read_mappings(pid);
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const Mapping& m) { return m.writable && m.executable; });
}

const Mapping* mapping_of(const std::vector<Mapping>& mappings, TraceeAddress address) {
  for (const auto& mapping : mappings)
    if (mapping.range.contains(address)) return &mapping;
  return nullptr;
}

test::Compiled compiled_program(const std::string& source) {
  return test::compile(source, "cc -O1 -o {out} {src}");
}

constexpr const char* kPrinting = R"(
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  FILE* out = fopen(argv[1], "w");
  for (int i = 0; i < 100; ++i) {
    char* text = malloc(20);
    snprintf(text, 20, "%d", i * argc);
    fputs(strchr(text, text[0]), out);
    free(text);
  }
  fclose(out);
  return 7;
}
)";

TEST(InjectedAgent, has_all_of_its_parts_where_it_says_and_no_writable_code) {
  const auto program = compiled_program("int main(void) { return 7; }");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});

  const auto agent = inject(traced);

  ASSERT_TRUE(agent) << agent.error().message();
  const auto mappings = *read_mappings(traced.pid);
  const auto& places = agent->places();
  const Mapping* const text = mapping_of(mappings, places.text.begin());
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(text->executable && !text->writable);
  const Mapping* const data = mapping_of(mappings, places.private_data);
  ASSERT_NE(data, nullptr);
  EXPECT_TRUE(!data->executable && data->writable);
  const Mapping* const arena = mapping_of(mappings, places.arena);
  ASSERT_NE(arena, nullptr);
  EXPECT_EQ(arena->range.size(), agent->arena()->size());
  const Mapping* const code = mapping_of(mappings, places.region.begin());
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->range.size(), wire::kGroupCode);
  EXPECT_TRUE(code->executable);
  EXPECT_EQ(places.region.begin().value() % wire::kGroupStride, 0u);
  EXPECT_EQ(places.thunk_unwind.value() + 4096, places.region.begin().value());
  const Mapping* const rest = mapping_of(mappings, places.region.end() + -1);
  ASSERT_NE(rest, nullptr);
  EXPECT_FALSE(rest->executable || rest->writable);
  EXPECT_FALSE(has_writable_code(traced.pid));
  wire::AgentControl control;
  ASSERT_TRUE(traced.space->memory().read(places.private_data,
                                          std::as_writable_bytes(std::span(&control, 1))));
  EXPECT_EQ(control.arena, places.arena.value());
  EXPECT_EQ(control.region, places.region.begin().value());
  EXPECT_EQ(control.region_end, places.region.end().value());
  EXPECT_EQ(control.max_rings, wire::kMaxRings);
  EXPECT_EQ(control.group_is_mapped[0], 1);
  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

TEST(InjectedAgent, leaves_no_open_file_in_the_process) {
  const auto program =
      compiled_program("#include <fcntl.h>\nint main(void) { return open(\"/\", O_RDONLY) + 40; }");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced plain, injected;
  launch_to_entry(plain, {program.path});
  launch_to_entry(injected, {program.path});

  ASSERT_TRUE(inject(injected));

  EXPECT_EQ(injected.run_to_end(), plain.run_to_end());
}

TEST(InjectedAgent, shares_its_arena_with_the_tracer) {
  const auto program = compiled_program("int main(void) { return 7; }");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});
  const auto agent = inject(traced, true);
  ASSERT_TRUE(agent) << agent.error().message();

  agent->arena()->control().heartbeat = 77;

  constexpr std::int64_t kHeartbeat = offsetof(wire::SharedControl, heartbeat);
  EXPECT_EQ(*traced.space->memory().read_word(agent->places().arena + kHeartbeat), 77u);
}

TEST(InjectedAgent, lets_patched_calls_go_on_and_the_output_is_the_same) {
  const auto program = compiled_program(kPrinting);
  ASSERT_TRUE(program.succeeded) << program.messages;
  const std::string plain = program.directory / "plain", traced_out = program.directory / "traced";
  ASSERT_EQ(WEXITSTATUS(std::system((program.path + " " + plain).c_str())), 7);
  Traced traced;
  launch_to_entry(traced, {program.path, traced_out});
  const auto agent = inject(traced);
  ASSERT_TRUE(agent) << agent.error().message();

  const auto image = elf::Image::open(program.path);
  ASSERT_TRUE(image);
  const auto calls = elf::find_calls(**image);
  ASSERT_TRUE(calls);
  const LoadBias bias(read_auxiliary_vector(traced.pid)->entry, (*image)->entry());
  std::vector<CallSitePatch> patches;
  for (const auto& call : calls->sites)
    patches.push_back({bias.to_tracee(call.at),
                       call.size,
                       bias.to_tracee(calls->imports[call.import].slot),
                       {},
                       AgentRoutine::Enter});
  ASSERT_GE(patches.size(), 6u);
  SiteWriter writer(traced.space,
                    {agent->routine(AgentRoutine::Enter), agent->routine(AgentRoutine::FindObject),
                     agent->routine(AgentRoutine::IteratePhdr),
                     agent->routine(AgentRoutine::Backtrace)});
  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    caller.use_code(agent->calling_code());
    const auto lines = writer.patch(patches, caller);
    ASSERT_TRUE(lines.empty()) << lines.front();
  }
  EXPECT_FALSE(has_writable_code(traced.pid));
  ASSERT_TRUE(agent->switch_on());

  // Its last words: the counter, before its memory goes.
  std::uint64_t count = 0;
  ASSERT_EQ(::ptrace(PTRACE_SETOPTIONS, traced.pid, nullptr, kTraceOptions | PTRACE_O_TRACEEXIT),
            0);
  while (traced.stopped) {
    if (traced.stopped->stop() == Stop{StopKind::PtraceEvent, PTRACE_EVENT_EXIT})
      count = *traced.space->memory().read_word(agent->places().private_data + kCounterAt);
    (void)std::move(*traced.stopped).resume();
    traced.wait();
  }
  EXPECT_EQ(traced.killed->stop, (Stop{StopKind::Exited, 7}));
  EXPECT_EQ(test::read_text(traced_out), test::read_text(plain));
  EXPECT_GE(count, 502u); // fopen, fclose, and five in each of 100 rounds
}

TEST(InjectedAgent, knows_and_forgets_threads) {
  const auto program = compiled_program("int main(void) { return 7; }");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});
  const auto agent = inject(traced);
  ASSERT_TRUE(agent) << agent.error().message();
  const auto& threads = agent->threads();
  const std::uint64_t key = 0x7fff'f7d8'a740;
  const std::uint64_t same_place = key + (std::uint64_t{wire::kThreadSlots} << 12);
  const TraceeAddress mute =
      agent->places().private_data + static_cast<std::int64_t>(AgentPrivate::kMuteBlockAt);

  EXPECT_FALSE(*threads.find(key));
  EXPECT_FALSE(*threads.mute(key));
  EXPECT_FALSE(*threads.mute(same_place));
  EXPECT_EQ(*threads.find(key), mute);
  EXPECT_EQ(*threads.find(same_place), mute);

  ASSERT_TRUE(threads.restore(same_place, agent->block(3)));
  EXPECT_EQ(*threads.find(same_place), agent->block(3));
  EXPECT_EQ(*threads.mute(same_place), agent->block(3));
  ASSERT_TRUE(threads.forget(key));
  EXPECT_FALSE(*threads.find(key));
  EXPECT_EQ(*threads.find(same_place), mute) << "it is found behind a slot that became free";
  EXPECT_FALSE(*threads.mute(key));
  EXPECT_EQ(*threads.find(key), mute);
  wire::AgentBlock block;
  ASSERT_TRUE(traced.space->memory().read(mute, std::as_writable_bytes(std::span(&block, 1))));
  EXPECT_EQ(block.is_muted, wire::kMutedByTracer);
}

TEST(InjectedAgent, is_off_in_a_fork_child_and_knows_no_threads_there) {
  const auto program = compiled_program(R"(
    #include <sys/wait.h>
    #include <unistd.h>
    int main(void) {
      pid_t child = fork();
      if (child == 0) { pause(); return 1; }
      waitpid(child, 0, 0);
      return 7;
    })");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});
  const auto agent = inject(traced);
  ASSERT_TRUE(agent) << agent.error().message();
  ASSERT_TRUE(agent->switch_on());
  ASSERT_TRUE(agent->threads().mute(0x7fff'f7d8'a740));

  (void)std::move(*traced.stopped).resume();
  traced.wait();
  ASSERT_EQ(traced.stopped->stop(), (Stop{StopKind::PtraceEvent, PTRACE_EVENT_FORK}));
  Traced child;
  child.pid = static_cast<pid_t>(*traced.stopped->event_message());
  child.wait();
  ASSERT_TRUE(child.stopped);
  child.space = *AddressSpace::open(child.pid);
  const auto copy = agent->for_child(child.space);

  const auto at = [](std::size_t offset) { return static_cast<std::int64_t>(offset); };
  const TraceeAddress is_on = agent->places().private_data + at(AgentPrivate::kSwitchAt);
  EXPECT_EQ(*traced.space->memory().read_word(is_on), 1u);
  EXPECT_EQ(*child.space->memory().read_word(is_on), 0u);
  EXPECT_TRUE(*agent->threads().find(0x7fff'f7d8'a740));
  EXPECT_FALSE(*copy.threads().find(0x7fff'f7d8'a740));
  EXPECT_EQ(*child.space->memory().read_word(agent->places().private_data),
            agent->places().arena.value())
      << "the control stays";
  ASSERT_TRUE(copy.switch_on(5));
  EXPECT_EQ(*child.space->memory().read_word(is_on), std::uint64_t{5} << 32 | 1);

  ::kill(child.pid, SIGKILL);
  (void)std::move(*child.stopped).resume();
  child.wait();
  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

TEST(InjectedAgent, says_so_where_the_address_space_is_too_small_and_leaves_nothing_behind) {
  const auto program = compiled_program("int main(void) { return 7; }");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});
  const auto before = read_mappings(traced.pid)->size();
  const rlimit limit{std::uint64_t{1} << 30, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(traced.pid, RLIMIT_AS, &limit, nullptr), 0);

  const auto agent = inject(traced);

  ASSERT_FALSE(agent);
  EXPECT_NE(agent.error().message().find("ulimit -v"), std::string::npos)
      << agent.error().message();
  EXPECT_EQ(read_mappings(traced.pid)->size(), before);
  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

TEST(InjectedAgent, is_not_tried_where_a_seccomp_filter_kills_for_its_calls) {
  const auto program = compiled_program(R"(
    #include <stddef.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <signal.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    int main(void) {
      struct sock_filter code[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      struct sock_fprog filter = {4, code};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 1;
      raise(SIGTRAP);
      return 7;
    })");
  ASSERT_TRUE(program.succeeded) << program.messages;
  Traced traced;
  launch_to_entry(traced, {program.path});
  (void)std::move(*traced.stopped).resume();
  traced.wait();
  ASSERT_TRUE(traced.stopped);
  const auto before = read_mappings(traced.pid)->size();

  const auto agent = inject(traced);

  ASSERT_FALSE(agent);
  EXPECT_NE(agent.error().message().find("memfd_create"), std::string::npos)
      << agent.error().message();
  EXPECT_EQ(read_mappings(traced.pid)->size(), before);
  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

// ---- a thread that was interrupted in a system call
// ----------------------------------------------------

/// A child of the test that is seized and stopped once it is in its system call.
void interrupt_in_call(Traced& traced, long call, int (*body)()) {
  traced.pid = ::fork();
  if (traced.pid == 0) ::_exit(body());
  ASSERT_TRUE(seize(traced.pid, kTraceOptions));
  traced.space = *AddressSpace::open(traced.pid);
  const std::string wanted = std::to_string(call) + " ";
  for (;;) { // until it sleeps there
    const auto where = read_file("/proc/" + std::to_string(traced.pid) + "/syscall");
    if (where && where->starts_with(wanted)) break;
    ::usleep(200);
  }
  ASSERT_TRUE(interrupt(traced.pid));
  traced.wait();
  ASSERT_TRUE(traced.stopped);
  ASSERT_EQ(traced.stopped->stop(), (Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP}));
}

int ends[2];

TEST(RemoteCaller, leaves_a_read_that_was_interrupted_to_go_on) {
  ASSERT_EQ(::pipe(ends), 0);
  Traced traced;
  interrupt_in_call(traced, SYS_read, [] {
    char byte = 0;
    return ::read(ends[0], &byte, 1) == 1 ? int{byte} : 100;
  });

  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    const auto pid = caller.call(SYS_getpid, {});
    ASSERT_TRUE(pid) << pid.error().message();
    EXPECT_EQ(*pid, static_cast<std::uint64_t>(traced.pid));
    EXPECT_TRUE(caller.call(SYS_getppid, {}));
  }

  ASSERT_TRUE(traced.stopped);
  EXPECT_EQ(traced.stopped->stop(), (Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP}));
  (void)std::move(*traced.stopped).resume();
  ASSERT_EQ(::write(ends[1], "*", 1), 1);
  traced.wait();
  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, '*'}));
}

TEST(RemoteCaller, leaves_a_sleep_its_time) {
  Traced traced;
  interrupt_in_call(traced, SYS_clock_nanosleep, [] {
    timespec begin{}, end{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    const timespec time{0, 150'000'000};
    if (::nanosleep(&time, nullptr) != 0) return 1;
    ::clock_gettime(CLOCK_MONOTONIC, &end);
    const auto passed = (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
    return passed >= 150'000'000 ? 7 : 2;
  });

  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    EXPECT_TRUE(caller.call(SYS_getpid, {}));
  }

  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

TEST(RemoteCaller, lets_a_signal_that_came_meanwhile_end_a_pause) {
  Traced traced;
  interrupt_in_call(traced, SYS_pause, [] {
    std::signal(SIGUSR1, [](int) {});
    return ::pause() == -1 && errno == EINTR ? 7 : 1;
  });

  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    EXPECT_TRUE(caller.call(SYS_getpid, {}));
    ::kill(traced.pid, SIGUSR1);
    EXPECT_TRUE(caller.call(SYS_getpid, {}));
  }

  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Exited, 7}));
}

TEST(RemoteCaller, says_how_the_thread_died_meanwhile) {
  Traced traced;
  interrupt_in_call(traced, SYS_pause, [] { return ::pause(); });
  ::kill(traced.pid, SIGKILL);

  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    EXPECT_FALSE(caller.call(SYS_getpid, {}));
  }

  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Killed, SIGKILL}));
}

TEST(RemoteCaller, makes_no_call_in_a_stop_whose_signal_would_be_lost) {
  Traced traced;
  interrupt_in_call(traced, SYS_pause, [] { return ::pause(); });
  ::kill(traced.pid, SIGUSR2);
  (void)std::move(*traced.stopped).resume();
  traced.wait();
  ASSERT_EQ(traced.stopped->stop(), (Stop{StopKind::SignalDelivery, SIGUSR2}));

  {
    RemoteCaller caller(traced.space, traced.stopped, traced.killed);
    EXPECT_FALSE(caller.call(SYS_getpid, {}));
  }

  EXPECT_EQ(traced.run_to_end(), (Stop{StopKind::Killed, SIGUSR2}));
}

/// A program with an agent whose session is over.
class LeftBehind : public testing::Test {
protected:
  void SetUp() override {
    launch_to_entry(traced_, {"/bin/true"});
    auto agent = inject(traced_);
    ASSERT_TRUE(agent) << agent.error().message();
    places_.emplace(agent->places());
    list_ = agent->area_list();
  }
  std::optional<LeftAgent> find() const {
    auto found = LeftAgent::find(traced_.space, traced_.pid, image_);
    return found ? *found : std::nullopt;
  }
  template <class T>
  void write(TraceeAddress at, T value) const {
    ASSERT_TRUE(traced_.space->memory().write(at, std::as_bytes(std::span(&value, 1))));
  }
  TraceeAddress control(std::size_t offset) const {
    return places_->private_data + static_cast<std::int64_t>(AgentPrivate::kControlAt + offset);
  }

  const std::vector<std::byte> bytes_ = counting_agent();
  const AgentImage image_ = *AgentImage::of(bytes_);
  Traced traced_;
  std::optional<InjectedAgent::Places> places_;
  TraceeAddress list_;
};

TEST_F(LeftBehind, an_agent_is_used_again_with_an_arena_of_its_own) {
  const auto left = find();
  ASSERT_TRUE(left);
  const std::size_t mappings = read_mappings(traced_.pid)->size();
  write(places_->private_data + std::int64_t{AgentPrivate::kSwitchAt}, std::uint32_t{1});
  write(places_->private_data + std::int64_t{AgentPrivate::kThreadsAt}, std::uint64_t{0x7f00});

  std::optional<InjectedAgent> agent;
  {
    RemoteCaller caller(traced_.space, traced_.stopped, traced_.killed);
    auto adopted = InjectedAgent::adopt(caller, image_, *left, {}, true);
    ASSERT_TRUE(adopted) << adopted.error().message();
    agent.emplace(*std::move(adopted));
  }

  EXPECT_EQ(agent->places().text, places_->text);
  EXPECT_EQ(agent->places().region, places_->region);
  EXPECT_EQ(read_mappings(traced_.pid)->size(), mappings);
  EXPECT_TRUE(agent->arena()->is_counting());
  agent->arena()->control().lost = 77;
  EXPECT_EQ(traced_.space->memory()
                .read_word(agent->places().arena +
                           static_cast<std::int64_t>(offsetof(wire::SharedControl, lost)))
                .
                operator*(),
            77u);
  EXPECT_EQ(*traced_.space->memory().read_word(places_->private_data +
                                               std::int64_t{AgentPrivate::kSwitchAt}),
            0u);
  EXPECT_FALSE(*agent->threads().find(0x7f00));
  EXPECT_EQ(traced_.run_to_end(), (Stop{StopKind::Exited, 0}));
}

TEST_F(LeftBehind, an_agent_of_another_build_is_left_alone) {
  write(places_->text.begin() + 511, std::byte{0x90});
  EXPECT_FALSE(find());
}

TEST_F(LeftBehind, an_agent_that_a_thread_is_in_is_left_alone) {
  auto registers = traced_.stopped->registers();
  registers->set_pc(places_->text.begin() + 320);
  ASSERT_TRUE(traced_.stopped->set_registers(*registers));
  EXPECT_FALSE(LeftAgent::find(traced_.space, traced_.pid, image_));
}

TEST_F(LeftBehind, an_address_that_is_not_what_it_was_is_not_believed) {
  const std::uint64_t stack = traced_.stopped->registers()->sp().value() & ~std::uint64_t{4095};
  for (const std::size_t field :
       {offsetof(wire::AgentControl, region), offsetof(wire::AgentControl, thunk_template)})
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, std::uint64_t{4096}, ~std::uint64_t{0}, ~std::uint64_t{4095},
          std::uint64_t{1} << 47, stack, places_->text.begin().value(),
          places_->region.begin().value() + wire::kGroupStride}) {
      const auto right = traced_.space->memory().read_word(control(field));
      write(control(field), wrong);
      EXPECT_FALSE(find()) << "field " << field << " says " << wrong;
      write(control(field), *right);
    }
  EXPECT_TRUE(find());

  write(control(offsetof(wire::AgentControl, first_pool)), ~std::uint32_t{0});
  write(control(offsetof(wire::AgentControl, group_is_mapped) + 5), std::uint8_t{1});
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->first_pool, find()->pools_used);
  EXPECT_TRUE(find()->group_is_mapped[0]);
  EXPECT_FALSE(find()->group_is_mapped[5]);

  write(control(offsetof(wire::AgentControl, arena)), stack);
  ASSERT_TRUE(find());
  EXPECT_FALSE(find()->arena);
}

TEST_F(LeftBehind, the_pools_that_were_ever_used_are_known_without_the_arena) {
  write(control(offsetof(wire::AgentControl, arena)), std::uint64_t{0});
  AreaDirectory(traced_.space, list_).say_pools_ever(7);
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->pools_ever, 7u);
  AreaDirectory(traced_.space, list_).say_pools_ever(~std::uint32_t{0});
  EXPECT_EQ(find()->pools_ever, wire::kMaxPools);
}

TEST_F(LeftBehind, an_area_that_is_not_what_it_was_is_not_used) {
  const std::uint64_t stack = traced_.stopped->registers()->sp().value() & ~std::uint64_t{4095};
  const auto plans = static_cast<std::uint32_t>(kPlanAreaKind);
  const auto stubs = static_cast<std::uint32_t>(AreaKind::Stubs);
  const std::uint64_t unwind = places_->thunk_unwind.value(); // read only, and ours
  for (const wire::AreaRecord& record :
       {wire::AreaRecord{stack, 4096, plans, 0}, wire::AreaRecord{unwind, 4096, stubs, 0},
        wire::AreaRecord{unwind, std::uint64_t{1} << 63, plans, 0},
        wire::AreaRecord{unwind, 0, plans, 0}, wire::AreaRecord{unwind + 8, 4096, plans, 0},
        wire::AreaRecord{places_->text.begin().value(), 4096, stubs, 0},
        wire::AreaRecord{unwind, 4096, 99, 0}, wire::AreaRecord{unwind, 4096, plans, 0},
        wire::AreaRecord{unwind, 4096, plans, 0}})
    AreaDirectory(traced_.space, list_).add(record);

  const auto left = find();

  ASSERT_TRUE(left);
  ASSERT_EQ(left->areas.size(), 1u) << "the one that is right, once";
  EXPECT_EQ(left->areas[0].begin, unwind);
}

TEST_F(LeftBehind, a_list_that_says_it_is_endless_has_an_end) {
  write(list_, ~std::uint32_t{0});
  ASSERT_TRUE(find());
  EXPECT_TRUE(find()->areas.empty());
}

TEST(LeftAgent, begins_each_session_with_other_pools_for_some_time) {
  struct Case {
    std::uint32_t first, used, next;
  };
  for (const auto& [first, used, next] : std::initializer_list<Case>{
           {0, 0, 0},
           {0, 8, 8},     // the next ones
           {48, 56, 56},  // which are the last of a few
           {56, 64, 0},   // and from the begin
           {0, 100, 100}, // a session that needs many has as many more before that
           {200, 300, 300},
           {300, 400, 0},
           {0, wire::kMaxPools, 0}}) {
    LeftAgent left{*AddressRange::make(TraceeAddress(0), TraceeAddress(0)),
                   TraceeAddress(0),
                   std::nullopt,
                   TraceeAddress(0),
                   TraceeAddress(0),
                   *AddressRange::make(TraceeAddress(0), TraceeAddress(0)),
                   {},
                   first,
                   used,
                   used,
                   {}};
    EXPECT_EQ(left.next_first_pool(), next) << first << ", " << used;
  }
}

} // namespace
} // namespace sonictrace
