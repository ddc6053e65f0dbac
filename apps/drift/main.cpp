// drift: the command. Exit status 0 done, 1 failed, 2 wrong usage or settings.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/version.h"
#include "print.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr const char* kNoThread =
    "the system starts no more threads: Resource temporarily unavailable; end other programs, or raise its limit (ulimit -u, or "
    "a "
    "container's pids limit)";

// OpenBLAS starts threads as it is loaded, before main, and raises SIGINT where it gets none, which would end the program without
// a sentence: the signal waits for main. By the bare system call, for no library is in order yet.
void keep_interrupts() {
  const std::uint64_t set = std::uint64_t{1} << (SIGINT - 1);
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, nullptr, sizeof set);
}
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it is const
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibrariesStart)() = keep_interrupts;

// Whether a library raised SIGINT meanwhile. One that came from outside, as by ctrl-C, takes its course.
bool a_library_gave_up() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  constexpr timespec kAtOnce = {};
  siginfo_t raised = {};
  const bool came = sigtimedwait(&set, &raised, &kAtOnce) == SIGINT, its_own = raised.si_pid == ::getpid();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  if (came && !its_own) std::raise(SIGINT);
  return came && its_own;
}

int fail(int status, const std::string& message) {
  print(stderr, "drift: {}\n", message);
  return status;
}

// The verb the user got to: `drift bench train` is two below `drift`.
const CLI::App& deepest_verb(const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return *verb;
}

std::string full_name(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? "drift" : full_name(*verb.get_parent()) + " " + verb.get_name();
}

std::vector<std::string> verb_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* below : verb.get_subcommands({})) names.push_back(below->get_name());
  return names;
}

// Message about a word that the command line has no place for.
std::string unknown_word(const CLI::App& verb, const std::string& word) {
  const bool option = word.starts_with("-");
  std::vector<std::string> known;
  if (option) {
    for (const CLI::Option* o : verb.get_options()) {
      for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    }
  } else {
    known = verb_names(verb);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::string text = fmt::format("{} has no {} '{}'", full_name(verb),
                                 option          ? "option"
                                 : known.empty() ? "argument"
                                                 : "verb",
                                 word);
  text += drift::did_you_mean(word.substr(0, word.find('=')), names);
  return text + fmt::format(" ('{} --help' lists them)", full_name(verb));
}

int wrong_command_line(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = deepest_verb(app);
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return fail(kWrongUsage, unknown_word(verb, unknown.front()));
  std::string what =
      verb_names(verb).empty() ? error.what() : fmt::format("a verb is missing: {}", fmt::join(verb_names(verb), ", "));
  // CLI11 says "--show: 1 required FILE missing".
  if (what.ends_with(" missing")) what = fmt::format("{} needs a value", what.substr(0, what.find(':')));
  return fail(kWrongUsage, fmt::format("{} ('{} --help' explains)", what, full_name(verb)));
}

int run(int argc, char** argv) {
  CLI::App app("Turns scattered observations into continuous fields with calibrated uncertainty.", "drift");
  app.set_version_flag("--version", fmt::format("drift {}", drift::version()), "Print the version and exit");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  const std::string command = command_line(argc, argv);
  add_demo(app, command);
  add_inspect(app);
  add_simulate(app);
  add_fit(app);
  add_tune(app);
  add_predict(app, command);
  add_score(app);
  add_compare(app);
  add_plot(app);
  add_verify(app);
  add_bench(app);
  add_completion(app);
  try {
    app.parse(argc, argv);               // also runs the verb
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    const int status = app.exit(asked, text, text);
    put(stdout, text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    return wrong_command_line(app, error);
  }
  return 0;
}

int guarded_run(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const drift::UsageError& error) {
    return fail(kWrongUsage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "out of memory; use fewer observations, members or features");
  } catch (const std::system_error& error) {
    return fail(kFailed, error.code() == std::errc::resource_unavailable_try_again ? kNoThread : error.what());
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit is a write that fails, with its reason
  int status = a_library_gave_up() ? fail(kFailed, kNoThread) : guarded_run(argc, argv);
  if (const int error = output_error(); error != 0 && status == 0) {
    status = fail(kFailed, fmt::format("the output is incomplete: cannot write to standard output: {}",
                                       std::generic_category().message(error)));
  }
  if (status == 0) return 0;
  // HDF5 tidies up when the program ends, and crashes at that after a write that failed: all has been said, so it is not let.
  std::fflush(stderr);
  std::_Exit(status);
}
