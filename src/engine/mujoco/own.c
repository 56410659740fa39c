/* own.c: what a simulation has of its own of MuJoCo's model and data; the rest it shares with the others of its scene.
 *
 * A model is mostly what never changes: meshes, textures, names, the tree of bodies. A simulation has an mjModel of its own
 * whose arrays are the shared model's, but for those listed here, which are copies: what grips, parking, placing and servos
 * change while it runs, and what model values set. Nobody writes to the shared model after it was described.
 *
 * Data are mostly what is never touched: room for the constraints of the worst moment, which goes with its square. They lie
 * in pages that the kernel gives when they are first written to, and reset gives them all back: what it leaves are the few
 * pages that MuJoCo's own reset leaves with anything but zeros, kept once for all simulations. So a reset costs what was
 * touched, not what there is, and leaves exactly what mj_resetData() leaves.
 */
#include "engine/mujoco/physics_internal.h"

#include <limits.h>
#include <mujoco/mjxmacro.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the model --- */

#define ALIGNMENT 64u

#define OWN_ARRAYS(X) PHYSICS_RUN_ARRAYS(X) PHYSICS_VALUE_ARRAYS(X) PHYSICS_CONSTANT_ARRAYS(X)

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

mjModel *physics_own_model(const mjModel *m) {
  size_t size = aligned(sizeof(mjModel));
#define ADD_SIZE(array, count) size += aligned(sizeof *m->array * (size_t)(count));
  OWN_ARRAYS(ADD_SIZE)
#undef ADD_SIZE
  unsigned char *at = aligned_alloc(ALIGNMENT, size);
  if (!at) return NULL;
  mjModel *own = (mjModel *)at;
  *own = *m;
  at += aligned(sizeof *own);
#define COPY(array, count)                                                                         \
  if ((count) > 0) memcpy(at, m->array, sizeof *m->array *(size_t)(count));                        \
  own->array = (void *)at;                                                                         \
  at += aligned(sizeof *m->array * (size_t)(count));
  OWN_ARRAYS(COPY)
#undef COPY
  return own;
}

void physics_own_model_free(mjModel *own) { free(own); }

/* --- data --- */

/* A page, or part of one, that a reset leaves with more than zeros. */
typedef struct page {
  size_t offset, size;
  unsigned char *bytes;
} page;

/* How far each array of an mjData lies from the beginning of its buffer. */
typedef struct places {
#define X(type, name, rows, columns) size_t name;
  MJDATA_POINTERS
#undef X
} places;

struct physics_start {
  mjData head; /* its pointers mean nothing */
  places at;
  page *pages;
  size_t page_count;
};

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static bool is_zero(const unsigned char *bytes, size_t size) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static bool keep_page(physics_start *start, const unsigned char *from, size_t offset, size_t size) {
  page *grown = reallocarray(start->pages, start->page_count + 1, sizeof *grown);
  if (!grown) return false;
  start->pages = grown;
  unsigned char *bytes = malloc(size);
  if (!bytes) return false;
  memcpy(bytes, from, size);
  start->pages[start->page_count++] = (page){offset, size, bytes};
  return true;
}

static bool keep_array(physics_start *start, const void *array, size_t offset, size_t size) {
  const unsigned char *bytes = array;
  const size_t step = page_size();
  for (size_t at = 0, part; at < size; at += part) {
    part = size - at < step ? size - at : step;
    if (!is_zero(bytes + at, part) && !keep_page(start, bytes + at, offset + at, part))
      return false;
  }
  return true;
}

/* Lays the arrays of an mjData out as mj_makeData() does, and returns the buffer's size. */
static size_t lay_out(const mjModel *m, places *at) {
  size_t size = 0;
  MJDATA_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns)                                                               \
  at->name = aligned(size);                                                                        \
  size = at->name + sizeof(type) * (size_t)m->rows * (size_t)(columns);
  MJDATA_POINTERS
#undef X
  return size;
}

typedef struct making {
  const mjModel *model;
  mjData *data;
} making;

static void make_data(void *context) {
  making *m = context;
  m->data = mj_makeData(m->model);
}

static bool keep_start(physics_start *start, const mjModel *m, const mjData *data) {
  bool complete = true;
  MJDATA_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns)                                                               \
  complete = complete && keep_array(start, data->name, start->at.name,                             \
                                    sizeof(type) * (size_t)m->rows * (size_t)(columns));
  MJDATA_POINTERS
#undef X
  return complete;
}

/* MuJoCo writes zeros into all that it makes, a hundred megabytes for a field of pieces. Those of constraints and contacts stay zeros, so
 * it makes data with room for one of each. */
static mjModel with_little_room(const mjModel *model) {
  mjModel little = *model;
  little.njmax = little.nconmax = 1;
  little.nstack = 1;
  return little;
}

tt_status physics_start_new(const mjModel *model, physics_start **made) {
  const mjModel little = with_little_room(model);
  making m = {.model = &little};
  char fatal[512];
  places at;
  const size_t size = lay_out(model, &at);
  if (size > INT_MAX || /* of mjData.nbuffer */
      !physics_is_there(sizeof(mjData), size, (size_t)model->nstack * sizeof(mjtNum)))
    return TT_NOMEM;
  if (!physics_guard(make_data, &m, fatal, sizeof fatal) || !m.data) return TT_NOMEM;
  physics_start *start = calloc(1, sizeof *start);
  bool complete = start;
  if (start) {
    *start = (physics_start){.head = *m.data, .at = at};
    start->head.nbuffer = (int)size;
    start->head.nstack = model->nstack;
    complete = keep_start(start, &little, m.data);
  }
  mj_deleteData(m.data);
  if (!complete) {
    physics_start_free(start);
    return TT_NOMEM;
  }
  *made = start;
  return TT_OK;
}

void physics_start_free(physics_start *start) {
  if (!start) return;
  for (size_t i = 0; i < start->page_count; i++) free(start->pages[i].bytes);
  free(start->pages);
  free(start);
}

/* Pages that cost nothing until they are written to. Huge ones would cost two megabytes for the first byte. */
static void *untouched(size_t size) {
  void *pages =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return NULL;
  madvise(pages, size, MADV_NOHUGEPAGE);
  return pages;
}

static size_t buffer_size(const mjData *data) { return (size_t)data->nbuffer + 1; }

static size_t stack_size(const mjData *data) {
  return ((size_t)data->nstack + 1) * sizeof *data->stack;
}

/* Of the start, its arrays in a buffer. */
static void head_of_start(mjData *data, const physics_start *start, void *buffer, mjtNum *stack) {
  *data = start->head;
  data->buffer = buffer;
  data->stack = stack;
#define X(type, name, rows, columns)                                                               \
  data->name = (void *)((unsigned char *)buffer + start->at.name);
  MJDATA_POINTERS
#undef X
}

static void put_pages(mjData *data, const physics_start *start) {
  for (size_t i = 0; i < start->page_count; i++)
    memcpy((unsigned char *)data->buffer + start->pages[i].offset, start->pages[i].bytes,
           start->pages[i].size);
}

mjData *physics_own_data(const physics_start *start) {
  mjData *data = malloc(sizeof *data);
  if (!data) return NULL;
  void *buffer = untouched(buffer_size(&start->head)), *stack = untouched(stack_size(&start->head));
  head_of_start(data, start, buffer, stack);
  if (buffer && stack) {
    put_pages(data, start);
    return data;
  }
  physics_own_data_free(data, start);
  return NULL;
}

void physics_own_data_free(mjData *data, const physics_start *start) {
  if (!data) return;
  if (data->buffer) munmap(data->buffer, buffer_size(&start->head));
  if (data->stack) munmap(data->stack, stack_size(&start->head));
  free(data);
}

/* Pages given back are zeros when they are touched again. */
static void clear(void *pages, size_t size) {
  if (madvise(pages, size, MADV_DONTNEED) != 0) memset(pages, 0, size); /* locked in memory */
}

void physics_reset_data(tt_physics *p) {
  const physics_start *start = p->fixed->start;
  clear(p->data->buffer, buffer_size(&start->head));
  clear(p->data->stack, stack_size(&start->head));
  head_of_start(p->data, start, p->data->buffer, p->data->stack);
  put_pages(p->data, start);
}
