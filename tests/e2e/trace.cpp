#include "trace.hpp"

#include <fstream>
#include <iterator>
#include <map>

namespace sonictrace::test {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text, int mode) {
  std::ofstream(path, std::ios::binary) << text;
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::map<std::string, std::size_t> changed_code(pid_t pid) {
  std::map<std::string, std::size_t> changed;
  std::ifstream memory("/proc/" + std::to_string(pid) + "/mem", std::ios::binary);
  for (const auto& line : lines_of(read_file("/proc/" + std::to_string(pid) + "/maps"))) {
    unsigned long begin = 0, end = 0, offset = 0;
    char rights[5] = "", path[4096] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %4095s", &begin, &end, rights, &offset,
                    path) < 5)
      continue;
    if (rights[2] != 'x' || path[0] != '/') continue;
    std::ifstream file(path, std::ios::binary);
    std::string in_file(end - begin, 0), in_memory(end - begin, 0);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(in_file.data(), static_cast<std::streamsize>(in_file.size()));
    in_file.resize(static_cast<std::size_t>(file.gcount()));
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(begin));
    memory.read(in_memory.data(), static_cast<std::streamsize>(in_memory.size()));
    std::size_t differ = 0;
    for (std::size_t i = 0; i < in_file.size(); ++i)
      differ += in_file[i] != in_memory[i];
    if (differ != 0) changed[path] += differ;
  }
  return changed;
}

pid_t child_of(pid_t pid) {
  const auto path = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
  return static_cast<pid_t>(std::atoi(read_file(path).c_str()));
}

std::string status_field(pid_t pid, const std::string& name) {
  for (const auto& line : lines_of(read_file("/proc/" + std::to_string(pid) + "/status")))
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

Traced read_back(Ended ended, const std::string& log_path) {
  Traced traced{std::move(ended), read_file(log_path), {}};
  traced.log = parse_log(traced.text);
  return traced;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Traced trace(const std::string& engine, const std::vector<std::string>& options,
             const std::vector<std::string>& program, Command how) {
  const TemporaryDirectory directory;
  const std::string log = directory.path("log");
  how.argv =
      std::vector<std::string>{SONICTRACE, "--engine=" + engine, "-o", log} + options + program;
  Ended ended = run_program(how);
  return read_back(std::move(ended), log);
}

std::vector<std::string> printed_calls(const std::string& out, bool of_children) {
  static const std::regex call(R"((child )?(\w+\([^()]*\) = \S+))");
  std::vector<std::string> calls;
  for (const auto& line : lines_of(out)) {
    std::smatch match;
    if (std::regex_match(line, match, call) && match[1].matched == of_children)
      calls.push_back(match[2]);
  }
  return calls;
}

std::string as_printed(const LoggedCall& call, const std::string& expected) {
  const auto arguments = expected.find("()") != std::string::npos
                             ? 0
                             : std::count(expected.begin(), expected.end(), ',') + 1;
  LoggedCall shown = call;
  const std::string wanted = expected.substr(expected.rfind("= ") + 2);
  if (wanted == "*")
    shown.result = "*";
  else if (shown.result.starts_with("0x"))
    shown.result = std::to_string(static_cast<int>(std::stoull(shown.result, nullptr, 16)));
  return to_expectation(shown, static_cast<std::size_t>(arguments));
}

void expect_calls(const std::vector<LoggedCall>& logged, const std::vector<std::string>& expected) {
  ASSERT_FALSE(expected.empty()) << "the tracee has printed nothing to compare with";
  for (std::size_t i = 0; i < std::min(logged.size(), expected.size()); ++i)
    ASSERT_EQ(as_printed(logged[i], expected[i]), expected[i]) << "call " << i;
  ASSERT_EQ(logged.size(), expected.size());
}

void expect_calls_in_any_order(const std::vector<LoggedCall>& logged,
                               std::vector<std::string> expected) {
  ASSERT_FALSE(expected.empty()) << "the tracee has printed nothing to compare with";
  std::map<std::string, std::string> example; // by name: how many arguments are printed
  for (const auto& call : expected)
    example.emplace(call.substr(0, call.find('(')), call);
  std::vector<std::string> shown;
  for (const auto& call : logged) {
    const auto found = example.find(call.name);
    if (found == example.end()) {
      shown.push_back(to_expectation(call, 9));
      continue;
    }
    std::string like = found->second;
    if (!like.ends_with("= *")) like = like.substr(0, like.rfind("= ")) + "= 0";
    shown.push_back(as_printed(call, like));
  }
  std::sort(shown.begin(), shown.end());
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> missing, surplus;
  std::set_difference(expected.begin(), expected.end(), shown.begin(), shown.end(),
                      std::back_inserter(missing));
  std::set_difference(shown.begin(), shown.end(), expected.begin(), expected.end(),
                      std::back_inserter(surplus));
  const auto few = [](std::vector<std::string> some) {
    if (some.size() > 10) some.resize(10);
    return some;
  };
  EXPECT_EQ(few(missing), std::vector<std::string>{}) << missing.size() << " calls are not logged";
  EXPECT_EQ(few(surplus), std::vector<std::string>{}) << surplus.size() << " were not made";
}

std::string as_test_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

bool is_as_expected(const std::string& shown, const std::string& expected) {
  std::size_t at = 0, from = 0;
  for (std::size_t end = expected.find('?'); end != std::string::npos;
       end = expected.find('?', from)) {
    const std::string part = expected.substr(from, end - from);
    const std::size_t found = shown.find(part, at);
    if (found == std::string::npos || (from == 0 && found != 0)) return false;
    at = found + part.size();
    from = end + 1;
  }
  const std::string tail = expected.substr(from);
  if (from == 0) return shown == expected;
  const auto quotes = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '"');
  };
  return shown.size() >= at + tail.size() && shown.ends_with(tail) &&
         quotes(shown) == quotes(expected);
}

} // namespace sonictrace::test
