/* Whether a file is a whole shared object for this machine: its ELF header, segments and sections
 * are checked before the file is opened, as the system's loader would map a damaged file and crash.
 * object.c and symbols.c call it. */
#define _GNU_SOURCE
#include "plugin/elf.h"

#include "base/memory.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW(Ehdr) file_header;
typedef ElfW(Phdr) segment_header;
typedef ElfW(Shdr) section_header;

/* The ELF header of this library, which the linker provides: the class, byte order and machine that
 * a plugin must have. */
extern const file_header __ehdr_start __attribute__((visibility("hidden")));

typedef struct object {
  const char *path;
  int descriptor;
  size_t size;
  file_header header;
  segment_header *segments; /* header.e_phnum of them */
} object;

#define NO_OBJECT "plugin %s: not a loadable shared object: "
#define DAMAGED "it is damaged: its headers contradict each other"
#define MOST_ADDRESS ((uint64_t)1 << 40) /* more memory than any object has */
enum { PAGE = 1 << 16 };                 /* the largest of any machine */

static scl_status refuse(const object *o, const char *why, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, NO_OBJECT "%s", o->path, why);
}

static scl_status cut_off(const object *o, const char *what, uint64_t first, uint64_t length,
                          scl_error *error) {
  return scl_fail(
      error, SCL_STATUS_UNSUPPORTED,
      NO_OBJECT "it is cut off or damaged: it has %zu bytes, and %s lie at %llu to %llu", o->path,
      o->size, what, (unsigned long long)first, (unsigned long long)(first + length));
}

/* Whether bytes first .. first+length-1 are within the file; no sum can overflow. */
static bool is_within(const object *o, uint64_t first, uint64_t length) {
  return first <= o->size && length <= o->size - first;
}

/* Read exactly `size` bytes at `from`; a file that is shorter meanwhile is refused. */
static scl_status read_at(const object *o, uint64_t from, void *to, size_t size, scl_error *error) {
  for (size_t have = 0; have < size;) {
    const ssize_t got = pread(o->descriptor, (char *)to + have, size - have, (off_t)(from + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return scl_fail(error, SCL_STATUS_IO, "plugin %s: cannot be read: %s", o->path,
                      strerror(errno));
    if (got == 0) return refuse(o, "it becomes shorter while it is read", error);
    have += (size_t)got;
  }
  return SCL_STATUS_OK;
}

/* Read the ELF header, and refuse everything but a shared object of this class, byte order and
 * machine. The first bytes are compared even if the file is shorter than a header, so that a short
 * text file is reported as such and not as cut off. */
static scl_status check_header(object *o, scl_error *error) {
  const unsigned char *ident = o->header.e_ident;
  if (o->size == 0) return refuse(o, "it is empty", error);
  const size_t there = scl_min(o->size, sizeof o->header);
  SCL_TRY(read_at(o, 0, &o->header, there, error));
  if (memcmp(ident, ELFMAG, scl_min(there, SELFMAG)) != 0)
    return refuse(o, "it is not an ELF file", error);
  if (there < sizeof o->header)
    return cut_off(o, "the bytes of its header", 0, sizeof o->header, error);
  if (ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
      ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
      o->header.e_machine != __ehdr_start.e_machine)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    NO_OBJECT "it is for another machine (ELF class %u, byte order %u, machine %u; "
                              "here %u, %u, %u)",
                    o->path, ident[EI_CLASS], ident[EI_DATA], o->header.e_machine,
                    __ehdr_start.e_ident[EI_CLASS], __ehdr_start.e_ident[EI_DATA],
                    __ehdr_start.e_machine);
  if (o->header.e_type == ET_REL)
    return refuse(o, "it is an object file: link it with -shared", error);
  if (o->header.e_type != ET_DYN)
    return refuse(o, "it is a program or a core file: link it with -shared", error);
  return SCL_STATUS_OK;
}

/* ------------ segments: what the loader maps */

/* Whether a loaded segment of `length` bytes contains size bytes at `address`. */
static bool covers(const segment_header *s, uint64_t address, uint64_t size, uint64_t length) {
  return s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr <= length &&
         size <= length - (address - s->p_vaddr);
}

/* Loaded segments must follow each other without overlap (*end: the end of the last one), and have
 * more bytes in memory than in the file only if they are writable. What the loader reads or
 * protects must be within one of them. */
static bool is_sound(const object *o, const segment_header *s, uint64_t *end) {
  if (s->p_type == PT_LOAD) {
    if (s->p_filesz > s->p_memsz || s->p_vaddr < *end || s->p_vaddr > MOST_ADDRESS ||
        s->p_memsz > MOST_ADDRESS || (s->p_memsz > s->p_filesz && (s->p_flags & PF_W) == 0))
      return false;
    *end = s->p_vaddr + s->p_memsz;
    return true;
  }
  if (s->p_type != PT_DYNAMIC && s->p_type != PT_GNU_RELRO && s->p_type != PT_TLS) return true;
  for (size_t i = 0; i < o->header.e_phnum; i++) {
    const segment_header *in = &o->segments[i];
    if (covers(in, s->p_vaddr, s->p_memsz, in->p_memsz + PAGE) && /* a page is protected whole */
        s->p_offset - in->p_offset == s->p_vaddr - in->p_vaddr)
      return true;
  }
  return false;
}

/* Every segment must be within the file and is_sound; one must have code, and one the tables of the
 * dynamic linker. Leaves o->segments, which the caller releases, also after a failure. */
static scl_status check_segments(object *o, scl_error *error) {
  const size_t count = o->header.e_phnum, length = count * sizeof *o->segments;
  uint64_t end = 0;
  bool has_code = false, has_dynamic = false;
  if (count == 0 || o->header.e_phentsize != sizeof *o->segments)
    return refuse(o, "it has no program headers", error);
  if (!is_within(o, o->header.e_phoff, length))
    return cut_off(o, "its program headers", o->header.e_phoff, length, error);
  o->segments = scl_allocate(length);
  if (o->segments == NULL) return scl_fail_memory(error, length, "a plugin's headers");
  SCL_TRY(read_at(o, o->header.e_phoff, o->segments, length, error));
  for (size_t i = 0; i < count; i++) {
    const segment_header *s = &o->segments[i];
    if (!is_within(o, s->p_offset, s->p_filesz))
      return cut_off(o, "bytes of a segment", s->p_offset, s->p_filesz, error);
    if (!is_sound(o, s, &end)) return refuse(o, DAMAGED, error);
    has_code = has_code || (s->p_type == PT_LOAD && (s->p_flags & PF_X) != 0);
    has_dynamic = has_dynamic || s->p_type == PT_DYNAMIC;
  }
  return has_code && has_dynamic
             ? SCL_STATUS_OK
             : refuse(o, "it has no code, or nothing that the loader could link", error);
}

/* ------------ sections: the loader reads none, but
 * they show whether file and segments are whole */

/* Whether a segment maps the section, at the same distance in the file and in memory, and writable
 * if the section is. */
static bool is_mapped(const object *o, const section_header *section) {
  const bool in_file = section->sh_type != SHT_NOBITS;
  for (size_t i = 0; i < o->header.e_phnum; i++) {
    const segment_header *s = &o->segments[i];
    if (covers(s, section->sh_addr, section->sh_size, in_file ? s->p_filesz : s->p_memsz) &&
        (!in_file || section->sh_offset - s->p_offset == section->sh_addr - s->p_vaddr))
      return (section->sh_flags & SHF_WRITE) == 0 || (s->p_flags & PF_W) != 0;
  }
  return false;
}

/* Every section must be within the file; one that is loaded must be within a segment. Sections for
 * threads (SHF_TLS) have addresses of a template, outside the segments. */
static scl_status check_sections(const object *o, scl_error *error) {
  const uint64_t length = (uint64_t)o->header.e_shnum * sizeof(section_header);
  if (o->header.e_shnum == 0) return SCL_STATUS_OK; /* stripped of them */
  if (o->header.e_shentsize != sizeof(section_header) || !is_within(o, o->header.e_shoff, length))
    return cut_off(o, "its section headers", o->header.e_shoff, length, error);
  for (size_t i = 0; i < o->header.e_shnum; i++) {
    section_header section;
    SCL_TRY(read_at(o, o->header.e_shoff + i * sizeof section, &section, sizeof section, error));
    if (section.sh_type == SHT_NULL) continue;
    if (section.sh_type != SHT_NOBITS && !is_within(o, section.sh_offset, section.sh_size))
      return cut_off(o, "bytes of a section", section.sh_offset, section.sh_size, error);
    const bool loaded = (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_TLS) == 0;
    if (loaded && !is_mapped(o, &section)) return refuse(o, DAMAGED, error);
  }
  return SCL_STATUS_OK;
}

scl_status scl_elf_check(const char *path, scl_error *error) {
  struct stat file;
  /* O_NONBLOCK: opening a pipe that nobody writes to must not wait. */
  object o = {.path = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (o.descriptor < 0 || fstat(o.descriptor, &file) != 0) {
    const int reason = errno;
    if (o.descriptor >= 0) (void)close(o.descriptor);
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: cannot be read: %s", path, strerror(reason));
  }
  o.size = (size_t)file.st_size;
  scl_status status = check_header(&o, error);
  if (status == SCL_STATUS_OK) status = check_segments(&o, error);
  if (status == SCL_STATUS_OK) status = check_sections(&o, error);
  (void)close(o.descriptor);
  scl_release(o.segments);
  return status;
}
