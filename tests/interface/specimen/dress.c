/* The list symbol, and the script that dresses the specimens.
 *
 * The script is the text at the end of the object itself, followed by its length in eight digits.
 * One order a line:
 *
 *   only COMPONENT ...          the components of the list (all, without this line)
 *   size PIECE N                memory of N bytes; its head (a row's stride) says N
 *   least PIECE                 the least size of version 1
 *   longer PIECE N              N bytes more
 *   head PIECE N                its head says N, whatever its memory
 *   set PIECE MEMBER VALUE      null | int N | double X | text ... | same PIECE
 *   put PIECE MEMBER FUNCTION   a slot, by the name of a function in faults_*.c
 *   byte PIECE PLACE VALUE      one byte
 *   repeat COMPONENT ID         list that ability twice
 *   drop COMPONENT ID           list it no longer
 *   offer COMPONENT ID PIECE    list that table under the ability's id (PIECE null: NULL)
 *   at SLOT ...                 for upset.c; the slots "load" and "unload" are this
 *                               dressing and its end
 *
 * PIECE: COMPONENT (the descriptor), COMPONENT/table, COMPONENT/option/NAME, COMPONENT/options (for
 * sizes), COMPONENT/ID (an ability, without "scullery." and "/1"), list. "*" stands for any text. */
#define _GNU_SOURCE
#include "specimen.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The symbol is constant to the host alone. */
scl_plugin_list specimen_list __asm__("scullery_plugins");
SCL_EXPORT scl_plugin_list specimen_list;

static const scl_plugin *const specimens[] = {
    &specimen_plain,    &specimen_general, &specimen_split,   &specimen_lattice, &specimen_rotated,
    &specimen_few,      &specimen_shared,  &specimen_pupil,   &specimen_wrapper, &specimen_wave,
    &specimen_waves,    &specimen_side,    &specimen_cell,    &specimen_bell,    &specimen_long,
    &specimen_twice,    &specimen_square,  &specimen_mean,    &specimen_ramp,    &specimen_normal,
    &specimen_column,   &specimen_pairs,   &specimen_pitches, &specimen_turned,  &specimen_taught,
    &specimen_logistic, &specimen_descent, &specimen_centred, &specimen_guess,   &specimen_fitted};
enum { SPECIMENS = sizeof specimens / sizeof *specimens, GARBAGE = 0xa5 };

/* ------------ the layout of version 1 */

static const struct {
  const char *type, *member;
  size_t place, size;
} members[] = {
#define TABLE(type, size)
#define RECORD(type, size)
#define MEMBER(type, member, place, size) {#type, #member, place, size},
#define LEAST(constant, type, size) {#type, "", 0, size},
#define VALUE(constant, value)
#include "v1.inc"
};

size_t member_place(const char *type, const char *member, size_t *size) {
  *size = 0;
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    if (strcmp(members[i].type, type) != 0 || strcmp(members[i].member, member) != 0) continue;
    *size = members[i].size;
    return members[i].place;
  }
  return 0;
}

/* ------------ the script */

static char *script;
static char *texts[200]; /* that "text" values point to */
static size_t n_texts;

static void stop(const char *what, const char *line) {
  (void)dprintf(STDERR_FILENO, "specimen: %s: %s\n", what, line);
  abort();
}

static void read_script(void) {
  static const char marker = 0;
  Dl_info info;
  char digits[9] = "";
  if (dladdr(&marker, &info) == 0) return;
  FILE *file = fopen(info.dli_fname, "rb");
  if (file == NULL) return;
  if (fseek(file, -8, SEEK_END) == 0 && fread(digits, 1, 8, file) == 8 &&
      strspn(digits, "0123456789") == 8) {
    const size_t length = strtoul(digits, NULL, 10);
    script = calloc(length + 1, 1);
    if (script == NULL || fseek(file, -8 - (long)length, SEEK_END) != 0 ||
        fread(script, 1, length, file) != length)
      stop("the script cannot be read", info.dli_fname);
  }
  (void)fclose(file);
}

/* Whether `text` has the pattern, in which one * stands for anything. */
static int matches(const char *pattern, size_t length, const char *text) {
  const char *star = memchr(pattern, '*', length);
  const size_t before = star == NULL ? length : (size_t)(star - pattern);
  const size_t after = star == NULL ? 0 : length - before - 1, all = strlen(text);
  if (star == NULL) return all == length && memcmp(pattern, text, length) == 0;
  return all >= before + after && memcmp(pattern, text, before) == 0 &&
         memcmp(star + 1, text + all - after, after) == 0;
}

/* The rest of the next line from *from on that begins with "VERB NAME ", or NULL. */
static const char *next_line(const char *verb, const char *name, size_t *from) {
  static char rest[2][400];
  static int turn;
  while (script != NULL && script[*from] != 0) {
    const char *line = script + *from;
    const size_t length = strcspn(line, "\n"), first = strcspn(line, " \n");
    *from += length + (line[length] == '\n');
    if (strlen(verb) != first || strncmp(line, verb, first) != 0) continue;
    const char *second = line + first + (line[first] == ' ');
    const size_t word = strcspn(second, " \n");
    if (name != NULL && !matches(second, word, name)) continue;
    const char *begin = name == NULL ? second : second + word + (second[word] == ' ');
    turn = !turn;
    (void)snprintf(rest[turn], sizeof rest[turn], "%.*s", (int)(line + length - begin), begin);
    return rest[turn];
  }
  return NULL;
}

const char *script_line(const char *slot, const char *verb, size_t *from) {
  const size_t length = strlen(verb);
  /* Slots run on many threads: the line itself, not a copy. */
  while (script != NULL && script[*from] != 0) {
    const char *line = script + *from;
    const size_t all = strcspn(line, "\n");
    *from += all + (line[all] == '\n');
    if (strncmp(line, "at ", 3) != 0) continue;
    const size_t word = strcspn(line + 3, " \n");
    const char *rest = line + 3 + word + 1;
    if (!matches(line + 3, word, slot) || strncmp(rest, verb, length) != 0) continue;
    if (rest[length] == ' ' || rest[length] == '\n' || rest[length] == 0)
      return rest + length + (rest[length] == ' ');
  }
  return NULL;
}

/* ------------ pieces */

typedef struct piece {
  char key[100], type[80];
  char *memory;
  size_t size;
} piece;
static piece pieces[400];
static size_t n_pieces;

static void *resize(piece *p, size_t size) {
  char *memory = malloc(size + (size == 0));
  if (memory == NULL) stop("no memory", p->key);
  memset(memory, GARBAGE, size);
  if (p->memory != NULL) memcpy(memory, p->memory, p->size < size ? p->size : size);
  free(p->memory);
  p->memory = memory;
  p->size = size;
  return memory;
}

static piece *add_piece(const char *key, const char *type, const void *from, size_t size) {
  piece *p = &pieces[n_pieces++];
  (void)snprintf(p->key, sizeof p->key, "%s", key);
  (void)snprintf(p->type, sizeof p->type, "%s", type);
  memcpy(resize(p, size), from, size);
  return p;
}

static piece *find_piece(const char *key) {
  for (size_t i = 0; i < n_pieces; i++)
    if (strcmp(pieces[i].key, key) == 0) return &pieces[i];
  return NULL;
}

static void set_head(piece *p, size_t size) {
  const uint32_t head = (uint32_t)size;
  if (p->size >= sizeof(scl_head)) memcpy(p->memory + offsetof(scl_head, size), &head, sizeof head);
}

/* "scullery.gaussian-dual/1" -> "gaussian-dual". */
static const char *short_id(const char *id, char text[60]) {
  (void)snprintf(text, 60, "%.*s", (int)strcspn(id + 9, "/"), id + 9);
  return text;
}

static const char *const kinds[] = {"scl_sampler", "scl_nonlinearity", "scl_kernel", "scl_solver"};

static void take_apart(const scl_plugin *own) {
  char key[100], type[80], text[60];
  (void)add_piece(own->name, "scl_plugin", own, own->head.size);
  (void)snprintf(key, sizeof key, "%s/table", own->name);
  (void)add_piece(key, kinds[own->kind], own->vtable, ((const scl_head *)own->vtable)->size);
  for (size_t i = 0; i < own->n_options; i++) {
    (void)snprintf(key, sizeof key, "%s/option/%s", own->name, own->options[i].name);
    (void)add_piece(key, "scl_option", &own->options[i], sizeof(scl_option));
  }
  for (const scl_ability *one = own->abilities; one != NULL && one->id != NULL; one++) {
    (void)snprintf(key, sizeof key, "%s/%s", own->name, short_id(one->id, text));
    (void)snprintf(type, sizeof type, "scl_ability_%s", text);
    for (char *at = type; *at != 0; at++)
      if (*at == '-') *at = '_';
    (void)add_piece(key, type, one->table, ((const scl_head *)one->table)->size);
  }
}

/* ------------ orders */

static void resize_pieces(void) {
  for (size_t i = 0; i < n_pieces; i++) {
    piece *p = &pieces[i];
    const int is_row = strcmp(p->type, "scl_option") == 0;
    const char *rest;
    size_t wanted = p->size, least, from;
    for (from = 0; next_line("least", p->key, &from) != NULL;)
      wanted = member_place(p->type, "", &least), wanted = least;
    for (from = 0; (rest = next_line("longer", p->key, &from)) != NULL;)
      wanted = p->size + strtoul(rest, NULL, 10);
    for (from = 0; (rest = next_line("size", p->key, &from)) != NULL;)
      wanted = strtoul(rest, NULL, 10);
    if (wanted == p->size) continue;
    (void)resize(p, wanted);
    if (!is_row) set_head(p, wanted);
  }
}

/* Write a pointer into a table where it is long enough. */
static void link_to(piece *p, const char *member, const void *to) {
  size_t size;
  const size_t place = member_place(p->type, member, &size);
  if (p->size >= place + sizeof to) memcpy(p->memory + place, &to, sizeof to);
}

static void link_number(piece *p, const char *member, uint32_t number) {
  size_t size;
  const size_t place = member_place(p->type, member, &size);
  if (p->size >= place + sizeof number) memcpy(p->memory + place, &number, sizeof number);
}

/* Rows of one stride, in one array of exactly their size. */
static void join_options(const scl_plugin *own, piece *plugin) {
  char key[100];
  size_t stride = 0;
  if (own->n_options == 0) return;
  for (size_t i = 0; i < own->n_options; i++) {
    (void)snprintf(key, sizeof key, "%s/option/%s", own->name, own->options[i].name);
    const piece *row = find_piece(key);
    if (i == 0) stride = row->size;
    if (row->size != stride) stop("rows of different sizes", key);
  }
  (void)snprintf(key, sizeof key, "%s/options", own->name);
  piece *all = &pieces[n_pieces++];
  (void)snprintf(all->key, sizeof all->key, "%s", key);
  char *to = resize(all, own->n_options * stride);
  for (size_t i = 0; i < own->n_options; i++) {
    (void)snprintf(key, sizeof key, "%s/option/%s", own->name, own->options[i].name);
    memcpy(to + i * stride, find_piece(key)->memory, stride);
  }
  link_to(plugin, "options", to);
  link_number(plugin, "option_size", (uint32_t)stride);
}

/* Zeros that are released at the end. */
static char *keep_text(size_t size) {
  char *text = calloc(size, 1);
  if (text == NULL || n_texts == sizeof texts / sizeof *texts) stop("no memory", "for a text");
  texts[n_texts++] = text;
  return text;
}

static void join_abilities(const scl_plugin *own, piece *plugin) {
  char key[100], text[60];
  scl_ability list[40] = {{NULL, NULL}};
  size_t count = 0, from = 0;
  const char *rest;
  if (own->abilities == NULL && next_line("offer", own->name, &from) == NULL) return;
  for (const scl_ability *one = own->abilities; one != NULL && one->id != NULL; one++) {
    int dropped = 0, twice = 0;
    (void)short_id(one->id, text);
    for (from = 0; (rest = next_line("drop", own->name, &from)) != NULL;)
      dropped |= matches(rest, strlen(rest), text);
    for (from = 0; (rest = next_line("repeat", own->name, &from)) != NULL;)
      twice |= matches(rest, strlen(rest), text);
    (void)snprintf(key, sizeof key, "%s/%s", own->name, text);
    for (int k = 0; !dropped && k <= twice; k++)
      list[count++] = (scl_ability){one->id, find_piece(key)->memory};
  }
  for (from = 0; (rest = next_line("offer", own->name, &from)) != NULL;) {
    const size_t length = strcspn(rest, " ");
    const piece *table = find_piece(rest + length + 1);
    char *id = keep_text(length + 12);
    (void)snprintf(id, length + 12, "scullery.%.*s/1", (int)length, rest);
    list[count++] = (scl_ability){id, table == NULL ? NULL : table->memory};
  }
  list[count++] = (scl_ability){NULL, NULL};
  (void)snprintf(key, sizeof key, "%s/abilities", own->name);
  link_to(plugin, "abilities", add_piece(key, "scl_ability", list, count * sizeof *list)->memory);
}

void write_value(void *to, size_t size, const char *value) {
  char word[16] = "";
  const size_t length = strcspn(value, " \n");
  const char *rest = value + length + (value[length] == ' ');
  const size_t end = strcspn(rest, "\n");
  (void)snprintf(word, sizeof word, "%.*s", (int)length, value);
  if (strcmp(word, "null") == 0) {
    memset(to, 0, size);
  } else if (strcmp(word, "int") == 0) {
    const int64_t number = strtoll(rest, NULL, 10);
    memcpy(to, &number, size < sizeof number ? size : sizeof number);
  } else if (strcmp(word, "double") == 0) {
    const double number = strtod(rest, NULL);
    memcpy(to, &number, sizeof number);
  } else if (strcmp(word, "text") == 0) {
    char *text = keep_text(end + 1);
    memcpy(text, rest, end);
    memcpy(to, &text, sizeof text);
  } else {
    stop("no value", value);
  }
}

static void set_member(piece *p, const char *rest) {
  char member[60] = "";
  size_t size;
  (void)snprintf(member, sizeof member, "%.*s", (int)strcspn(rest, " "), rest);
  const char *value = rest + strlen(member) + 1;
  const size_t place = member_place(p->type, member, &size);
  if (size == 0) stop("no member", rest);
  if (p->size < place + size) return; /* it was cut off */
  if (strncmp(value, "same ", 5) == 0) {
    const piece *other = find_piece(value + 5);
    if (other == NULL) stop("no piece", value);
    memcpy(p->memory + place, &other->memory, sizeof other->memory);
  } else {
    write_value(p->memory + place, size, value);
  }
}

static void put_function(piece *p, const char *rest) {
  static const fault *const all[] = {faults_of_kernels,   faults_of_nonlinearities,
                                     faults_of_instances, faults_of_samplers,
                                     faults_of_solvers,   faults_of_abilities};
  char member[60] = "";
  size_t size;
  const char *name = rest + strcspn(rest, " ") + 1;
  (void)snprintf(member, sizeof member, "%.*s", (int)strcspn(rest, " "), rest);
  const size_t place = member_place(p->type, member, &size);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (const fault *one = all[i]; one->name != NULL; one++)
      if (strcmp(one->name, name) == 0 && size == sizeof one->function && p->size >= place + size) {
        memcpy(p->memory + place, &one->function, size);
        return;
      }
  stop("no slot or no function", rest);
}

/* All orders "VERB PIECE ..." of the pieces whose type is, or is not, a row of options. */
static void follow(int rows) {
  for (size_t i = 0; i < n_pieces; i++) {
    piece *p = &pieces[i];
    const char *rest;
    if ((strcmp(p->type, "scl_option") == 0) != rows) continue;
    for (size_t from = 0; (rest = next_line("set", p->key, &from)) != NULL;)
      set_member(p, rest);
    for (size_t from = 0; (rest = next_line("put", p->key, &from)) != NULL;)
      put_function(p, rest);
    for (size_t from = 0; (rest = next_line("head", p->key, &from)) != NULL;)
      set_head(p, strtoul(rest, NULL, 10));
    for (size_t from = 0; (rest = next_line("byte", p->key, &from)) != NULL;) {
      char *value = NULL;
      const size_t place = strtoul(rest, &value, 10);
      if (place < p->size) p->memory[place] = (char)strtol(value, NULL, 10);
    }
  }
}

/* ------------ the list */

static const scl_plugin *list[SPECIMENS + 1];

static int is_wanted(const char *name) {
  size_t from = 0;
  const char *rest = next_line("only", NULL, &from);
  if (rest == NULL) return 1;
  for (const char *at = rest; *at != 0; at += strspn(at, " ")) {
    const size_t length = strcspn(at, " ");
    if (matches(at, length, name)) return 1;
    at += length;
  }
  return 0;
}

__attribute__((constructor)) static void dress(void) {
  read_script();
  (void)upset(NULL, "load", NULL);
  for (size_t i = 0; i < SPECIMENS; i++)
    take_apart(specimens[i]);
  resize_pieces();
  follow(1);
  for (size_t i = 0; i < SPECIMENS; i++) {
    char key[100];
    piece *plugin = find_piece(specimens[i]->name);
    (void)snprintf(key, sizeof key, "%s/table", specimens[i]->name);
    link_to(plugin, "vtable", find_piece(key)->memory);
    join_options(specimens[i], plugin);
    join_abilities(specimens[i], plugin);
  }
  follow(0);
  specimen_list = (scl_plugin_list){.head = SCL_HEAD(scl_plugin_list), .plugins = list};
  for (size_t i = 0; i < SPECIMENS; i++)
    if (is_wanted(specimens[i]->name))
      list[specimen_list.count++] =
          (const scl_plugin *)(void *)find_piece(specimens[i]->name)->memory;
  const char *rest;
  for (size_t from = 0; (rest = next_line("set", "list", &from)) != NULL;) {
    piece view = {
        .type = "scl_plugin_list", .memory = (char *)&specimen_list, .size = sizeof specimen_list};
    set_member(&view, rest);
  }
  for (size_t from = 0; (rest = next_line("head", "list", &from)) != NULL;)
    specimen_list.head.size = (uint32_t)strtoul(rest, NULL, 10);
}

__attribute__((destructor)) static void undress(void) {
  (void)upset(NULL, "unload", NULL);
  for (size_t i = 0; i < n_pieces; i++)
    free(pieces[i].memory);
  for (size_t i = 0; i < n_texts; i++)
    free(texts[i]);
  free(script);
}
