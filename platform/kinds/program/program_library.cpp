// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/exit_status.h"

namespace stretto {

namespace {

namespace fs = std::filesystem;

std::string made_by(const std::string& what) {
  return "; " + what + " is a shared object of this machine (cc -shared -fPIC)";
}

// dlopen() maps what the headers promise: a file that ends before would end the simulator.
void check_headers(const std::string& file, const std::string& what) {
  if (fs::is_directory(file)) throw UserError(file + ": is a directory, not " + what);
  if (!fs::is_regular_file(file)) throw UserError(file + ": no such file");
  const std::string bytes = read_file(file);
  const auto refuse = [&](const std::string& why) {
    throw UserError(file + ": " + why + made_by(what));
  };
  Elf64_Ehdr header{}, own{};
  const std::string self = read_file("/proc/self/exe");
  std::memcpy(&own, self.data(), sizeof own);
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    refuse("is no ELF file");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || header.e_machine != own.e_machine ||
      header.e_type != ET_DYN) {
    refuse("is for another processor or no shared object");
  }
  const auto inside = [&](uint64_t begin, uint64_t size) {
    return begin <= bytes.size() && size <= bytes.size() - begin;
  };
  bool whole = header.e_phentsize == sizeof(Elf64_Phdr) &&
               inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (unsigned i = 0; whole && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    whole = segment.p_type == PT_NULL || inside(segment.p_offset, segment.p_filesz);
  }
  if (!whole)
    refuse("truncated: its segments end beyond its " + std::to_string(bytes.size()) + " bytes");
}

// dlopen() searches its own places for a name without a slash.
std::string path_of(const std::string& file) { return fs::absolute(file).string(); }

// What dlopen() is given: the file, or a copy of it if it is loaded already.
class LoadedFrom {
 public:
  explicit LoadedFrom(const std::string& file) : path_(path_of(file)) {
    void* const loaded = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (loaded == nullptr) return;
    dlclose(loaded);
    folder_ = (fs::temp_directory_path() / "stretto_program.XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr)
      throw UserError(folder_ + ": no folder for a copy of " + file + ": " + std::strerror(errno));
    path_ = folder_ + "/" + fs::path(file).filename().string();
    std::error_code error;
    if (!fs::copy_file(file, path_, error))
      throw UserError(path_ + ": cannot copy " + file + ": " + error.message());
  }
  ~LoadedFrom() {  // What is mapped stays.
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  LoadedFrom(const LoadedFrom&) = delete;
  LoadedFrom& operator=(const LoadedFrom&) = delete;

  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
  std::string folder_;  // Of the copy.
};

}  // namespace

// The loader believes what lies behind the headers, and damaged tables end its process: so a child
// loads the file first. Whether it has a main().
bool has_main(const std::string& file, const std::string& what) {
  constexpr int kHasMain = 1;
  check_headers(file, what);
  const std::string path = path_of(file);
  const pid_t child = fork();
  if (child < 0) return false;  // No room for another process: then it is not known.
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
      std::signal(signal, SIG_DFL);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    alarm(10);  // Seconds; a table that is a circle.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    _exit(library != nullptr && dlsym(library, "main") != nullptr ? kHasMain : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == kHasMain;
  throw UserError(
      file + ": damaged: the loader fails on it" +
      (WIFSIGNALED(status) ? std::string(" (") + strsignal(WTERMSIG(status)) + ")" : "") +
      made_by(what));
}

void check_program(const std::string& file) { (void)has_main(file, "a program"); }

void check_preload(const std::string& file) {
  if (has_main(file, "a library to preload"))
    throw UserError(file +
                    ": has main(): it is a program, for program.file; what is preloaded takes "
                    "calls of programs, and its main() would take the simulator's place");
}

ProgramLibrary::ProgramLibrary(const std::string& file) {
  const LoadedFrom from(file);
  library_ = dlopen(from.path(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw UserError(std::string("cannot load the program: ") + dlerror());
  main_ = reinterpret_cast<ProgramMain>(dlsym(library_, "main"));
  if (main_ == nullptr) {
    dlclose(library_);
    throw UserError(file + ": has no main()");
  }
}

void ProgramLibrary::unload() {
  void* const library = library_;
  dlclose(library);
  library_ = nullptr;
}

ProgramLibrary::~ProgramLibrary() {
  if (library_ != nullptr) skips_destructors = true;
}

}  // namespace stretto
