/* Reads and writes zip files. What the directory says is checked against the size of the file
 * before anything is allocated. */
#include "data/files/zip.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/file.h"
#include "data/files/unpacker.h"

#include <string.h>

enum {
  BUFFER = SCL_BUFFER(1 << 18),
  END_BYTES = 22,     /* of the record at the end of the directory, without its comment */
  LOCATOR_BYTES = 20, /* of the record of zip64 before it */
  END64_BYTES = 56,
  ENTRY_BYTES = 46, /* of a member in the directory, without its name */
  LOCAL_BYTES = 30, /* the same in front of the member */
  COMMENT = 65535,
  STORED = 0,
  DEFLATED = 8,
  DEFLATE_MOST = 1032, /* deflate packs 1032 to 1 */
  MOST_MEMBERS = 1 << 16
};

typedef struct zip_member {
  char *name;
  size_t at, packed, size; /* of its local header; bytes in the file, and unpacked */
  uint32_t checksum;
  unsigned method, flags;
} zip_member;

struct scl_zip {
  scl_file file;
  char *path;
  zip_member *members;
  size_t count;
  /* of the member that is read */
  const zip_member *member;
  unsigned char *buffer;
  size_t next, left; /* in the file: the next byte, and how many the member still has */
  size_t given;      /* bytes, unpacked */
  uint32_t checksum;
  z_stream z;
  bool inflating;
};

/* ------------ little-endian numbers */

static uint64_t number_at(const unsigned char *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t k = size; k-- > 0;)
    value = value << 8 | bytes[k];
  return value;
}

static scl_status damaged(const scl_zip *zip, const char *what, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the zip file is damaged or cut off: %s",
                  zip->path, what);
}

/* ------------ the directory */

typedef struct zip_directory {
  uint64_t at, size, count;
} zip_directory;

/* The place of the last record of that signature in a text; NULL: none. */
static const unsigned char *last_record(const unsigned char *text, size_t size,
                                        const char *signature) {
  for (size_t at = size; at-- > 0;)
    if (size - at >= END_BYTES && memcmp(text + at, signature, 4) == 0) return text + at;
  return NULL;
}

/* The record of zip64, where the one at `at` in the file says that there is one. */
static scl_status find_large(scl_zip *zip, size_t at, zip_directory *out, scl_error *error) {
  unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
  if (at < LOCATOR_BYTES) return SCL_STATUS_OK;
  SCL_TRY(scl_file_read_at(&zip->file, at - LOCATOR_BYTES, LOCATOR_BYTES, locator, error));
  if (memcmp(locator, "PK\6\7", 4) != 0) return SCL_STATUS_OK;
  const uint64_t place = number_at(locator + 8, 8);
  if (place > at - LOCATOR_BYTES || at - LOCATOR_BYTES - place < END64_BYTES)
    return damaged(zip, "its directory is not where it should be", error);
  SCL_TRY(scl_file_read_at(&zip->file, (size_t)place, END64_BYTES, record, error));
  if (memcmp(record, "PK\6\6", 4) != 0)
    return damaged(zip, "its directory is not where it should be", error);
  *out = (zip_directory){number_at(record + 48, 8), number_at(record + 40, 8),
                         number_at(record + 32, 8)};
  return SCL_STATUS_OK;
}

static scl_status find_directory(scl_zip *zip, zip_directory *out, scl_error *error) {
  const size_t size = zip->file.size, tail = scl_min(size, END_BYTES + COMMENT);
  unsigned char *text = scl_allocate(tail + 1);
  if (text == NULL) return scl_fail_memory(error, tail, "a directory");
  scl_status status = scl_file_read_at(&zip->file, size - tail, tail, text, error);
  const unsigned char *end = status == SCL_STATUS_OK ? last_record(text, tail, "PK\5\6") : NULL;
  char begin[4] = "";
  if (status == SCL_STATUS_OK && end == NULL && size >= 4)
    status = scl_file_read_at(&zip->file, 0, 4, begin, error);
  if (status == SCL_STATUS_OK && end == NULL)
    status = memcmp(begin, "PK\3\4", 4) == 0
                 ? damaged(zip, "it has no directory at its end", error)
                 : scl_fail(error, SCL_STATUS_BAD_DATA, "%s: this is not a zip file", zip->path);
  if (status == SCL_STATUS_OK) {
    *out = (zip_directory){number_at(end + 16, 4), number_at(end + 12, 4), number_at(end + 10, 2)};
    status = find_large(zip, size - tail + (size_t)(end - text), out, error);
  }
  scl_release(text);
  if (status == SCL_STATUS_OK &&
      (out->at > size || out->size > size - out->at || out->count > out->size / ENTRY_BYTES ||
       out->count > MOST_MEMBERS))
    return damaged(zip, "its directory is larger than the file", error);
  return status;
}

/* Sizes of 4 bytes that are all ones are in an extra field, in this order. */
static bool take_large_sizes(const unsigned char *extra, size_t length, uint64_t *sizes[3]) {
  while (length >= 4) {
    const size_t bytes = (size_t)number_at(extra + 2, 2);
    if (bytes > length - 4) return false;
    const unsigned char *at = extra + 4, *end = at + bytes;
    for (size_t k = 0; number_at(extra, 2) == 1 && k < 3; k++) {
      if (*sizes[k] != UINT32_MAX) continue;
      if (end - at < 8) return false;
      *sizes[k] = number_at(at, 8);
      at += 8;
    }
    extra += 4 + bytes;
    length -= 4 + bytes;
  }
  return true;
}

/* One member of the directory at *from, which moves on. */
static scl_status take_member(scl_zip *zip, const unsigned char **from, const unsigned char *end,
                              zip_member *out, scl_error *error) {
  const unsigned char *at = *from;
  if (end - at < ENTRY_BYTES || memcmp(at, "PK\1\2", 4) != 0)
    return damaged(zip, "a member of its directory is", error);
  const size_t name = (size_t)number_at(at + 28, 2), extra = (size_t)number_at(at + 30, 2),
               comment = (size_t)number_at(at + 32, 2);
  if ((size_t)(end - at) - ENTRY_BYTES < name + extra + comment)
    return damaged(zip, "a member of its directory is", error);
  uint64_t size = number_at(at + 24, 4), packed = number_at(at + 20, 4),
           place = number_at(at + 42, 4);
  uint64_t *sizes[3] = {&size, &packed, &place};
  if (!take_large_sizes(at + ENTRY_BYTES + name, extra, sizes) || place > zip->file.size ||
      packed > zip->file.size - place || size > (uint64_t)1 << 62)
    return damaged(zip, "a member of its directory is", error);
  *out = (zip_member){.name = scl_allocate(name + 1),
                      .at = (size_t)place,
                      .packed = (size_t)packed,
                      .size = (size_t)size,
                      .checksum = (uint32_t)number_at(at + 16, 4),
                      .method = (unsigned)number_at(at + 10, 2),
                      .flags = (unsigned)number_at(at + 8, 2)};
  if (out->name == NULL) return scl_fail_memory(error, name, "a name");
  memcpy(out->name, at + ENTRY_BYTES, name);
  out->name[name] = 0;
  *from = at + ENTRY_BYTES + name + extra + comment;
  return SCL_STATUS_OK;
}

static scl_status read_directory(scl_zip *zip, scl_error *error) {
  zip_directory found = {0};
  SCL_TRY(find_directory(zip, &found, error));
  unsigned char *text = scl_allocate((size_t)found.size + 1);
  zip->members = scl_allocate_zero(((size_t)found.count + 1) * sizeof *zip->members);
  scl_status status =
      text == NULL || zip->members == NULL
          ? scl_fail_memory(error, (size_t)found.size, "a directory")
          : scl_file_read_at(&zip->file, (size_t)found.at, (size_t)found.size, text, error);
  const unsigned char *at = text;
  while (status == SCL_STATUS_OK && zip->count < found.count) {
    status = take_member(zip, &at, text + found.size, &zip->members[zip->count], error);
    zip->count++;
  }
  scl_release(text);
  return status;
}

scl_status scl_zip_open(const char *path, scl_zip **out, scl_error *error) {
  scl_zip *zip = scl_allocate_zero(sizeof *zip);
  if (zip == NULL) return scl_fail_memory(error, sizeof *zip, "a file");
  zip->file.descriptor = -1;
  zip->path = scl_copy_text(path);
  zip->buffer = scl_allocate(BUFFER);
  scl_status status = zip->path == NULL || zip->buffer == NULL
                          ? scl_fail_memory(error, BUFFER, "a file")
                          : scl_file_open_regular(zip->path, &zip->file, error);
  if (status == SCL_STATUS_OK) status = read_directory(zip, error);
  if (status == SCL_STATUS_OK)
    *out = zip;
  else
    scl_zip_close(zip);
  return status;
}

void scl_zip_close(scl_zip *zip) {
  if (zip == NULL) return;
  if (zip->inflating) (void)inflateEnd(&zip->z);
  scl_file_close(&zip->file);
  for (size_t k = 0; k < zip->count; k++)
    scl_release(zip->members[k].name);
  SCL_RELEASE(zip->members, zip->path, zip->buffer, zip);
}

size_t scl_zip_count(const scl_zip *zip) { return zip->count; }
const char *scl_zip_name(const scl_zip *zip, size_t k) { return zip->members[k].name; }
size_t scl_zip_size(const scl_zip *zip, size_t k) { return zip->members[k].size; }

/* ------------ reading a member */

static scl_status damaged_member(const scl_zip *zip, const char *what, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the member '%s' is damaged or cut off: %s",
                  zip->path, zip->member->name, what);
}

static scl_status check_member(const scl_zip *zip, scl_error *error) {
  const zip_member *m = zip->member;
  if (m->flags & 1)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the member '%s' is encrypted", zip->path,
                    m->name);
  if (m->method != STORED && m->method != DEFLATED)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the member '%s' is packed by method %u; stored and deflated ones are read",
                    zip->path, m->name, m->method);
  if (m->method == STORED ? m->size != m->packed : m->size / DEFLATE_MOST > m->packed)
    return damaged_member(zip, "its sizes do not fit", error);
  return SCL_STATUS_OK;
}

scl_status scl_zip_begin(scl_zip *zip, size_t k, scl_error *error) {
  const zip_member *m = zip->member = &zip->members[k];
  unsigned char local[LOCAL_BYTES];
  if (zip->inflating) (void)inflateEnd(&zip->z);
  zip->inflating = false;
  zip->given = 0;
  zip->checksum = (uint32_t)crc32(0, NULL, 0);
  SCL_TRY(check_member(zip, error));
  SCL_TRY(scl_file_read_at(&zip->file, m->at, LOCAL_BYTES, local, error));
  const size_t before =
      LOCAL_BYTES + (size_t)number_at(local + 26, 2) + (size_t)number_at(local + 28, 2);
  if (memcmp(local, "PK\3\4", 4) != 0 || before > zip->file.size - m->at ||
      m->packed > zip->file.size - m->at - before)
    return damaged_member(zip, "it is not where the directory says", error);
  zip->next = m->at + before;
  zip->left = m->packed;
  if (m->method == STORED) return SCL_STATUS_OK;
  zip->z = scl_unpacker();
  if (inflateInit2(&zip->z, -MAX_WBITS) != Z_OK)
    return scl_fail_memory(error, (size_t)1 << 15, "a packed file");
  zip->inflating = true;
  return SCL_STATUS_OK;
}

/* The next bytes of the member as they are in the file, at most `size`, to `to`. */
static scl_status read_packed(scl_zip *zip, void *to, size_t size, size_t *got, scl_error *error) {
  *got = scl_min(size, zip->left);
  SCL_TRY(scl_file_read_at(&zip->file, zip->next, *got, to, error));
  zip->next += *got;
  zip->left -= *got;
  return scl_interrupt_check(error);
}

static scl_status unpack(scl_zip *zip, unsigned char *to, size_t size, size_t *got,
                         scl_error *error) {
  z_stream *z = &zip->z;
  for (*got = 0; *got < size;) {
    if (z->avail_in == 0 && zip->left > 0) {
      size_t some = 0;
      SCL_TRY(read_packed(zip, zip->buffer, BUFFER, &some, error));
      z->next_in = zip->buffer;
      z->avail_in = (unsigned)some;
    }
    const unsigned room = (unsigned)scl_min(size - *got, (size_t)1 << 30);
    z->next_out = to + *got;
    z->avail_out = room;
    const int result = inflate(z, Z_NO_FLUSH);
    *got += room - z->avail_out;
    if (result == Z_MEM_ERROR) return scl_fail_memory(error, (size_t)1 << 15, "a packed file");
    if (result == Z_STREAM_END) return SCL_STATUS_OK;
    if (result != Z_OK) return damaged_member(zip, "its bytes cannot be unpacked", error);
  }
  return SCL_STATUS_OK;
}

static uint32_t add_checksum(uint32_t before, const void *bytes, size_t size) {
  const size_t piece = (size_t)1 << 30;
  for (const unsigned char *at = bytes; size > 0;) {
    const size_t some = scl_min(size, piece);
    before = (uint32_t)crc32(before, at, (unsigned)some);
    at += some;
    size -= some;
  }
  return before;
}

scl_status scl_zip_read(scl_zip *zip, void *to, size_t size, size_t *got, scl_error *error) {
  const zip_member *m = zip->member;
  enum { STEP = 1 << 18 }; /* bytes between two looks for Ctrl-C; they are in cache when summed */
  *got = 0;
  for (size_t want = scl_min(size, m->size - zip->given); *got < want;) {
    const size_t step = scl_min(want - *got, STEP);
    unsigned char *at = (unsigned char *)to + *got;
    size_t some = 0;
    SCL_TRY(m->method == STORED ? read_packed(zip, at, step, &some, error)
                                : unpack(zip, at, step, &some, error));
    if (some < step) return damaged_member(zip, "it ends too early", error);
    zip->checksum = add_checksum(zip->checksum, at, some);
    *got += some;
  }
  zip->given += *got;
  return zip->given == m->size && zip->checksum != m->checksum
             ? damaged_member(zip, "its checksum differs", error)
             : SCL_STATUS_OK;
}

/* ------------ writing */

static void put_number(unsigned char *to, uint64_t value, size_t size) {
  for (size_t k = 0; k < size; k++, value >>= 8)
    to[k] = (unsigned char)value;
}

/* The fields that a member has in front of it and in the directory, from "version needed" on:
 * version, flags, method, time, date, checksum, sizes, lengths of the name and of the extra field.
 * Both sizes are in an extra field of zip64, as NumPy writes them. */
enum { FIELDS = 26, EXTRA = 28 };

static void make_fields(const scl_zip_part *part, uint32_t checksum, size_t extra,
                        unsigned char to[FIELDS]) {
  memset(to, 0, FIELDS);
  put_number(to, 45, 2);
  put_number(to + 8, 0x21, 2); /* 1980-01-01, so that equal contents are equal files */
  put_number(to + 10, checksum, 4);
  put_number(to + 14, UINT32_MAX, 4);
  put_number(to + 18, UINT32_MAX, 4);
  put_number(to + 22, strlen(part->name), 2);
  put_number(to + 24, extra, 2);
}

static void make_extra(const scl_zip_part *part, uint64_t at, size_t bytes,
                       unsigned char to[EXTRA]) {
  const uint64_t size = part->head_bytes + part->body_bytes;
  put_number(to, 1, 2);
  put_number(to + 2, bytes - 4, 2);
  put_number(to + 4, size, 8);
  put_number(to + 12, size, 8);
  put_number(to + 20, at, 8);
}

static void write_directory(scl_output *output, const scl_zip_part *parts, const uint64_t *places,
                            const uint32_t *checksums, size_t count, uint64_t at) {
  uint64_t size = 0;
  for (size_t k = 0; k < count; k++) {
    unsigned char entry[ENTRY_BYTES] = "PK\1\2\x2d\3", extra[EXTRA];
    make_fields(&parts[k], checksums[k], EXTRA, entry + 6);
    put_number(entry + 38, (uint64_t)0600 << 16, 4);
    put_number(entry + 42, UINT32_MAX, 4);
    make_extra(&parts[k], places[k], EXTRA, extra);
    scl_output_write(output, entry, ENTRY_BYTES);
    scl_output_write(output, parts[k].name, strlen(parts[k].name));
    scl_output_write(output, extra, EXTRA);
    size += ENTRY_BYTES + strlen(parts[k].name) + EXTRA;
  }
  unsigned char large[END64_BYTES] = "PK\6\6", locator[LOCATOR_BYTES] = "PK\6\7",
                end[END_BYTES] = "PK\5\6";
  put_number(large + 4, END64_BYTES - 12, 8);
  put_number(large + 12, 45, 2);
  put_number(large + 14, 45, 2);
  put_number(large + 24, count, 8);
  put_number(large + 32, count, 8);
  put_number(large + 40, size, 8);
  put_number(large + 48, at, 8);
  put_number(locator + 8, at + size, 8);
  put_number(locator + 16, 1, 4);
  put_number(end + 8, count, 2);
  put_number(end + 10, count, 2);
  put_number(end + 12, UINT32_MAX, 4);
  put_number(end + 16, UINT32_MAX, 4);
  scl_output_write(output, large, END64_BYTES);
  scl_output_write(output, locator, LOCATOR_BYTES);
  scl_output_write(output, end, END_BYTES);
}

void scl_zip_write(scl_output *output, const scl_zip_part *parts, size_t count) {
  enum { MOST = 16, LOCAL_EXTRA = 20 };
  uint64_t places[MOST], at = 0;
  uint32_t checksums[MOST];
  for (size_t k = 0; k < count; k++) {
    const scl_zip_part *part = &parts[k];
    unsigned char local[LOCAL_BYTES] = "PK\3\4", extra[EXTRA];
    checksums[k] = add_checksum((uint32_t)crc32(0, NULL, 0), part->head, part->head_bytes);
    checksums[k] = add_checksum(checksums[k], part->body, part->body_bytes);
    places[k] = at;
    make_fields(part, checksums[k], LOCAL_EXTRA, local + 4);
    make_extra(part, 0, LOCAL_EXTRA, extra);
    scl_output_write(output, local, LOCAL_BYTES);
    scl_output_write(output, part->name, strlen(part->name));
    scl_output_write(output, extra, LOCAL_EXTRA);
    scl_output_write(output, part->head, part->head_bytes);
    scl_output_write(output, part->body, part->body_bytes);
    at += LOCAL_BYTES + strlen(part->name) + LOCAL_EXTRA + part->head_bytes + part->body_bytes;
  }
  write_directory(output, parts, places, checksums, count, at);
}
