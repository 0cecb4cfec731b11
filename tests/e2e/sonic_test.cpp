// The programs of examples/sonic: what Python says of its own calls is what the log shows.
#include "counted.hpp"
#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::string kPython = "/usr/bin/python3";

class Sonic : public WithEngine {
protected:
  /// Makes a picture, a sound and a model.
  void SetUp() override {
    SKIP_WITHOUT(exists(kPython), kPython);
    const std::string make = "import sys; sys.path.insert(0, '" SOURCE_DIR "/examples/sonic');"
                             "import run_sonic; run_sonic.make_face('face.jpg');"
                             "run_sonic.make_sound('voice.wav', 1);"
                             "run_sonic.load_model('sonic_model.pt', 7)";
    const Ended made = run_program(here({kPython, "-c", make}));
    const bool is_missing = made.err.find("ModuleNotFoundError") != std::string::npos;
    SKIP_WITHOUT(!is_missing, "torch, OpenCV or PyAV of Python");
    ASSERT_TRUE(made.exited_with(0)) << made.err;
  }

  Command here(std::vector<std::string> argv) const {
    Command command;
    command.argv = std::move(argv);
    command.directory = directory_.path();
    command.limit = std::chrono::seconds(140);
    return command;
  }

  /// The rest of the program's own output is in `out`.
  Traced pipeline(const std::vector<std::string>& filter) const {
    const std::vector<std::string> program = {kPython,
                                              SOURCE_DIR "/tests/e2e/sonic_told.py",
                                              "--image",
                                              "face.jpg",
                                              "--audio",
                                              "voice.wav",
                                              "--duration",
                                              "1",
                                              "--resolution",
                                              "128",
                                              "--inference_steps",
                                              "1",
                                              "--model",
                                              "sonic_model.pt"};
    return traced(filter + std::vector<std::string>{"--whole-lines"}, program, here({}));
  }

private:
  TemporaryDirectory directory_;
};

using CallsByName = std::map<std::string, std::vector<std::string>>;

CallsByName told_by(const std::string& out) {
  CallsByName all;
  const std::string mark = "told ";
  for (const std::string& line : lines_of(out))
    if (line.starts_with(mark)) {
      const std::string call = line.substr(mark.size());
      all[call.substr(0, call.find('('))].push_back(call);
    }
  return all;
}

/// Of each function of which something was told.
CallsByName logged(const std::string& text, const CallsByName& told) {
  CallsByName all;
  for (const std::string& line : lines_of(text)) {
    const std::string name = line.substr(0, line.find('('));
    if (told.contains(name)) all[name].push_back(line.substr(0, line.rfind(')') + 1));
  }
  return all;
}

TEST_P(Sonic, calls_are_shown_with_the_arguments_that_python_gave) {
  const Traced run = pipeline(
      {"-e", "torch::jit::import_ir_module@libtorch*", "-e", "cv::imread,cv::resize@libopencv*",
       "-e", "avformat_open_input@libavformat*,sws_getCachedContext@libswscale*", "-e",
       "at::_ops::repeat::call,at::_ops::permute::call,at::_ops::upsample_bilinear2d_vec::call"});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  const CallsByName told = told_by(run.ended.out);
  ASSERT_EQ(told.size(), 8U) << run.ended.out;
  CallsByName shown = logged(run.text, told);
  for (const auto& [name, calls] : told) {
    const std::vector<std::string>& lines = shown[name];
    // Operators may call each other.
    const bool is_alone = !name.starts_with("at::");
    if (is_alone) { EXPECT_EQ(lines.size(), calls.size()) << name; }
    auto at = lines.begin();
    for (const std::string& call : calls) {
      at = std::find_if(at, lines.end(),
                        [&](const std::string& line) { return is_as_expected(line, call); });
      ASSERT_NE(at, lines.end()) << "not shown: " << call << "\nof:\n" << run.text.substr(0, 4000);
      ++at;
    }
  }
}

TEST_P(Sonic, a_program_of_cpp_loads_the_model_that_python_has_saved) {
  SKIP_WITHOUT(exists(tracee("load_model")), "libtorch-dev");
  const Traced run = traced({"--whole-lines", "-e", "torch::jit::load"},
                            {tracee("load_model"), "sonic_model.pt"}, here({}));

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_TRUE(run.ended.out.ends_with(" tensors in sonic_model.pt\n")) << run.ended.out;
  const auto loads = run.log.of("torch::jit::load");
  ASSERT_EQ(loads.size(), 1U) << run.text;
  EXPECT_EQ(loads[0].arguments.at(0), "\"sonic_model.pt\"") << run.text;
}

INSTANTIATE_OVER_ENGINES(Sonic);

} // namespace
} // namespace sonictrace::test
