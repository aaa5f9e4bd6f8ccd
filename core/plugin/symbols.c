/* The dynamic symbols of a shared object, read from the file without loading it. */
#define _GNU_SOURCE
#include "plugin/symbols.h"

#include "plugin/elf.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW(Ehdr) file_header;
typedef ElfW(Shdr) section_header;
typedef ElfW(Sym) symbol_row;

typedef struct file {
  const char *bytes;
  size_t size;
} file;

/* Whether the bytes of the section are within the file; no sum can overflow. */
static bool is_within(const file *f, const section_header *s) {
  return s->sh_offset <= f->size && s->sh_size <= f->size - s->sh_offset;
}

/* Header i of the sections, whose table scl_elf_check has found within the file. */
static const section_header *section_at(const file *f, size_t i) {
  const file_header *header = (const void *)f->bytes;
  return (const void *)(f->bytes + header->e_shoff + i * sizeof(section_header));
}

/* Whether it is a symbol that -fsanitize=address, undefined or thread adds to every object. */
static bool is_of_sanitizer(const char *name) {
  static const char *const prefixes[] = {"__asan_", "__odr_asan", "__ubsan_", "__tsan_",
                                         "__sanitizer_"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
  return false;
}

/* Visit one symbol if other objects can see it; those of sanitizers are skipped. `names`: the table
 * of strings, `size` bytes. */
static void visit_row(const symbol_row *row, const char *names, size_t size, scl_symbol_visit visit,
                      void *context) {
  const unsigned binding = ELF64_ST_BIND(row->st_info);
  const unsigned seen = ELF64_ST_VISIBILITY(row->st_other);
  if (binding == STB_LOCAL || seen == STV_HIDDEN || seen == STV_INTERNAL) return;
  if (row->st_name >= size || names[row->st_name] == 0) return;
  if (is_of_sanitizer(names + row->st_name)) return;
  const scl_symbol symbol = {names + row->st_name, row->st_shndx != SHN_UNDEF,
                             binding != STB_GLOBAL};
  visit(context, &symbol);
}

/* Visit the rows of every table of dynamic symbols. A table of strings that does not end with a
 * zero byte is skipped: a name could run past its end. */
static void visit_all(const file *f, scl_symbol_visit visit, void *context) {
  const file_header *header = (const void *)f->bytes;
  for (size_t i = 0; i < header->e_shnum; i++) {
    const section_header *s = section_at(f, i);
    if (s->sh_type != SHT_DYNSYM || s->sh_link >= header->e_shnum || !is_within(f, s)) continue;
    const section_header *names = section_at(f, s->sh_link);
    if (!is_within(f, names) || names->sh_size == 0 ||
        f->bytes[names->sh_offset + names->sh_size - 1] != 0)
      continue;
    const symbol_row *rows = (const void *)(f->bytes + s->sh_offset);
    for (size_t k = 0; k < s->sh_size / sizeof *rows; k++)
      visit_row(&rows[k], f->bytes + names->sh_offset, names->sh_size, visit, context);
  }
}

scl_status scl_symbols_each(const char *path, scl_symbol_visit visit, void *context,
                            scl_error *error) {
  struct stat about;
  SCL_TRY(scl_elf_check(path, error));
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  void *bytes = MAP_FAILED;
  if (descriptor >= 0 && fstat(descriptor, &about) == 0)
    bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  if (descriptor >= 0) (void)close(descriptor);
  if (bytes == MAP_FAILED)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: cannot be read: %s", path, strerror(reason));
  const file f = {bytes, (size_t)about.st_size};
  visit_all(&f, visit, context);
  (void)munmap(bytes, f.size);
  return SCL_STATUS_OK;
}

const char *scl_symbol_giver(const char *name) {
  Dl_info about;
  const void *address = dlsym(RTLD_DEFAULT, name);
  return address != NULL && dladdr(address, &about) != 0 ? about.dli_fname : NULL;
}
