#include "job.h"

#include <chrono>
#include <stop_token>
#include <thread>

#include "bindings.h"

namespace {

// How often Python hears of progress and is asked for signals.
constexpr std::chrono::milliseconds kLook{50};

// What the work leaves for the thread that waits.
class Mailbox {
 public:
  struct News {
    std::optional<std::pair<double, std::string>> progress;  // the latest; all of the work only once it has ended
    std::vector<std::string> sentences;
    bool ended = false;
  };

  void progress(double share, const std::string& what) {
    const std::lock_guard lock(mutex_);
    news_.progress.emplace(share, what);
  }
  void say(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    news_.sentences.push_back(sentence);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    news_.ended = true;
    changed_.notify_one();
  }
  News wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLook, [&] { return news_.ended; });
    News taken = std::move(news_);
    news_ = {.progress = {}, .sentences = {}, .ended = taken.ended};
    if (!taken.ended && taken.progress && taken.progress->first >= 1.0) std::swap(taken.progress, news_.progress);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
};

// With the interpreter's lock. Throws what Python raised.
void deliver(const JobOptions& options, const Mailbox::News& news) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (!options.say.is_none()) {
    for (const std::string& sentence : news.sentences) options.say(sentence);
  }
  if (news.progress && !options.progress.is_none()) options.progress(news.progress->first, news.progress->second);
}

// The sentence of what ended the work; empty: it ended well.
std::string sentence_of(const std::exception_ptr& of_work) {
  try {
    if (of_work) std::rethrow_exception(of_work);
  } catch (const std::exception& error) {
    return with_keywords(error.what());
  } catch (...) {
    return "the work failed";
  }
  return {};
}

// What Python raised, with the sentence of the work that it ended: a KeyboardInterrupt carries it, any other exception has it as
// its context.
[[noreturn]] void raise(const std::exception_ptr& raised, const std::string& sentence) {
  try {
    std::rethrow_exception(raised);
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      PyErr_SetString(PyExc_KeyboardInterrupt, sentence.c_str());
      throw py::error_already_set();
    }
    if (!sentence.empty())
      PyException_SetContext(error.value().ptr(), py::module_::import("drift._drift").attr("Error")(sentence).release().ptr());
    throw;
  }
}

bool is_interrupt(const std::exception_ptr& raised) {
  try {
    std::rethrow_exception(raised);
  } catch (py::error_already_set& error) {
    return error.matches(PyExc_KeyboardInterrupt);
  }
}

// The interrupt came too late to stop anything: the result is whole, and raising would lose it.
void warn_of_late_interrupt() {
  const char* const text = "interrupted, but the work had ended by then; its result is complete";
  py::module_::import("drift._checks").attr("warn")(text, py::handle(PyExc_RuntimeWarning));
}

}  // namespace

void run_job(const JobOptions& options, const std::function<void(const drift::Control&)>& work) {
  Mailbox mailbox;
  std::stop_source stop;
  std::exception_ptr of_work, raised;
  drift::Control control;
  control.stop = stop.get_token();
  control.checkpoint = options.checkpoint;
  control.fresh = options.fresh;
  control.threads = options.threads;
  if (!options.progress.is_none())
    control.progress = [&](double share, const std::string& what) { mailbox.progress(share, what); };
  if (!options.say.is_none()) control.say = [&](const std::string& sentence) { mailbox.say(sentence); };
  {
    const py::gil_scoped_release released;
    std::thread worker([&] {
      try {
        work(control);
      } catch (...) {
        of_work = std::current_exception();
      }
      mailbox.end();
    });
    for (bool ended = false; !ended;) {
      const Mailbox::News news = mailbox.wait();
      ended = news.ended;
      if (raised) continue;
      const py::gil_scoped_acquire acquired;
      try {
        deliver(options, news);
      } catch (...) {
        raised = std::current_exception();
        stop.request_stop();
      }
    }
    worker.join();
  }
  if (raised && !of_work && is_interrupt(raised)) return warn_of_late_interrupt();
  if (raised) raise(raised, sentence_of(of_work));
  if (of_work) std::rethrow_exception(of_work);
}
