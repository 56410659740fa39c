/* jetstream.c: a sink in a stream of NATS: what it has taken is for others to store (tt_store_backend.open_log), and for a day after
 * that to store again. Several collectors share it: names and boot epochs stand in a bucket beside it.
 *
 * It keeps no values to be read, so whether a message was sent before is for the stores to find out: TT_SAMPLE_UNSURE says where.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/catalogue.h"
#include "store/jetstream/internal.h"
#include "store/jetstream/message.h"
#include "store/jetstream/names.h"
#include "store/refusal.h"
#include "store/told_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** µs between two tries to connect; longer, up to the second, where they take long: who writes waits for them. */
#define RETRY_INTERVAL INT64_C(300000)
#define LONGEST_RETRY INT64_C(5000000)
#define LONGEST_TOKEN 1024
#define LONGEST_SUBJECT (LONGEST_TOKEN + 80)
/** ms from what a device sends to what a collector takes, at most, where all goes well. */
#define LONGEST_WAY 2000
/** How often a batch is given again because others came before some of it. */
#define MOST_OUTRUN 10
/** Bytes of others' messages that wait for our readers; later ones are lost to them. */
#define MOST_FOLLOWED (16 << 20)

typedef struct jetstream {
  tt_store base;
  char *url;
  tt_nats_link *link; /**< NULL: there is none */
  tt_nats_names *names;
  pthread_mutex_t naming;  /**< guards the catalogue */
  tt_catalogue *catalogue; /**< every name and epoch told so far */
  tt_store_loader loader;
  tt_nats_ear others;    /**< what other collectors publish, where it is followed */
  tt_nats_gather gather; /**< of these; the ear's */
  bool follows;
  int64_t next_try; /**< µs: not before then it connects again */
  bool refused;     /**< it was said that it is no log */
  int64_t taken;    /**< ms, monotonic: what is written came in since then… */
  int64_t written;  /**< …and what is written next since then: the last write was over */
  atomic_bool hurried;
  pthread_mutex_t asking; /**< guards the two */
  tt_nats_link *asked;    /**< for find(), which other threads call; NULL: there is none */
  bool unanswered;        /**< it did not answer: another is needed */
  tt_told_state state;
} jetstream;

/* --- state and connection --- */

static void disconnect(jetstream *store) {
  tt_nats_ear_close(&store->others);
  tt_nats_names_leave(store->names);
  tt_nats_link_close(store->link);
  store->link = NULL;
}

/** What is on its way may come there or not: another link, and all is said again. That it is lost is told before that is tried. */
static void lose(jetstream *store, const tt_error *why) {
  disconnect(store);
  tt_nats_names_forget(store->names);
  tt_told_state_set(&store->state, why->text);
  store->next_try = tt_monotonic_us() + RETRY_INTERVAL;
}

/** When to try again what was begun at `begun` and has failed now. */
static int64_t next_try(int64_t begun) {
  const int64_t now = tt_monotonic_us(), pause = RETRY_INTERVAL + 2 * (now - begun);
  return now + (pause < LONGEST_RETRY ? pause : LONGEST_RETRY);
}

/** Opens the link on which others ask, so that they needn't wait for it. */
static void need_asked(jetstream *store) {
  tt_error error;
  pthread_mutex_lock(&store->asking);
  const bool is_there = store->asked && !store->unanswered && tt_nats_link_is_up(store->asked);
  tt_nats_link *dead = is_there ? NULL : store->asked;
  if (!is_there) store->asked = NULL;
  pthread_mutex_unlock(&store->asking);
  tt_nats_link_close(dead);
  tt_nats_link *link;
  if (is_there || tt_nats_link_open(store->url, &link, &error) != TT_OK) return;
  pthread_mutex_lock(&store->asking);
  store->asked = link;
  store->unanswered = false;
  pthread_mutex_unlock(&store->asking);
}

static tt_status connect_and_load(jetstream *store, tt_error *error) {
  const int64_t begun = tt_monotonic_us();
  tt_status status = tt_nats_link_open(store->url, &store->link, error);
  if (status == TT_OK) tt_nats_link_hear_of_hurry(store->link, &store->hurried);
  if (status == TT_OK) status = tt_nats_names_load(store->names, store->link, error);
  if (status != TT_OK) disconnect(store);
  store->next_try = next_try(begun);
  if (status == TT_OK) need_asked(store);
  return status;
}

static tt_status need_link(jetstream *store, tt_error *error) {
  if (store->link && tt_nats_link_is_up(store->link)) return TT_OK;
  if (store->link) {
    tt_fail(error, TT_FAILED, "nats: the connection is lost");
    lose(store, error);
  }
  if (atomic_load(&store->hurried) || tt_monotonic_us() < store->next_try)
    return tt_fail(error, TT_FAILED, "%s", store->state.now.reason);
  tt_status status = connect_and_load(store, error);
  if (status == TT_OK) tt_log_info("nats: connected");
  tt_told_state_set(&store->state, status == TT_OK ? NULL : error->text);
  tt_store_note_refusal(&store->refused, status == TT_INVALID, status == TT_OK, error);
  return status == TT_INVALID ? TT_FAILED : status;  // it let us in before: somebody will mend it
}

/* --- writing --- */

/** Of a device's messages; NULL: of names and handling. False: it has too long a name. */
static bool print_subject(jetstream *store, const char *device, char subject[LONGEST_SUBJECT]) {
  char token[LONGEST_TOKEN];
  const char *name = tt_nats_link_name(store->link);
  if (device && !tt_nats_print_token(token, sizeof token, '%', device)) return false;
  if (device)
    snprintf(subject, LONGEST_SUBJECT, "%s.log.%s", name, token);
  else
    snprintf(subject, LONGEST_SUBJECT, "%s.settings", name);
  return true;
}

/** That a message is news is so where all that came since before its device sent it was our own: a device that left may have sent it
 *  to another collector meanwhile, whose copy came into the stream before this one. */
static bool is_sure(void *context, const char *device) {
  jetstream *store = context;
  char subject[LONGEST_SUBJECT];
  int64_t since;
  return print_subject(store, device, subject) &&
         tt_nats_link_latest(store->link, subject, &since) && since + LONGEST_WAY <= store->taken;
}

/** Behind our latest message of the device, if there is one: else it is not taken. What is the same is the same message: the server
 *  knows it within its window. But what is set to what it was before is set anew. */
static tt_status publish(jetstream *store, const char *device, const tt_list *bytes,
                         tt_error *error) {
  char subject[LONGEST_SUBJECT], id[33];
  if (!print_subject(store, device, subject))
    return tt_fail(error, TT_INVALID, "nats: the device %.64s… has too long a name", device);
  snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64,
           tt_hash_bytes(TT_HASH_START, bytes->data, bytes->len),
           tt_hash_bytes(~TT_HASH_START, bytes->data, bytes->len));
  int64_t since;
  const uint64_t after = device ? tt_nats_link_latest(store->link, subject, &since) : 0;
  return tt_nats_link_publish(store->link, subject, device ? id : NULL, after, bytes->data,
                              bytes->len, error);
}

/** A second message of a device waits for the first one's place. */
static tt_status publish_split(jetstream *store, tt_nats_split *split, tt_error *error) {
  tt_list bytes = TT_LIST(char, NULL);
  const char *device, *last = NULL;
  tt_status status;
  while ((status = tt_nats_split_next(split, &bytes, &device, error)) == TT_OK) {
    if (device && last && !strcmp(device, last)) status = tt_nats_link_flush(store->link, error);
    if (status == TT_OK) status = publish(store, device, &bytes, error);
    if (status != TT_OK) break;
    tt_list_cut(&bytes, 0);
    last = device;
  }
  tt_list_free(&bytes);
  tt_error trouble;
  tt_status flushed = tt_nats_link_flush(store->link, &trouble);
  if (status != TT_END) return status;
  if (flushed != TT_OK) *error = trouble;
  return flushed;
}

/** TT_AGAIN: some of it was outrun; then all may be given again, and what others may have sent is taken, and unsure. */
static tt_status publish_all(jetstream *store, const tt_store_batch *whole, tt_error *error) {
  tt_nats_split split;
  if (!tt_nats_split_begin(&split, whole)) return tt_fail(error, TT_NOMEM, "out of memory");
  split.is_sure = is_sure;
  split.context = store;
  tt_status status = publish_split(store, &split, error);
  tt_nats_split_end(&split);
  return status;
}

/** `whole`: in itself. */
static tt_status write_whole(jetstream *store, const tt_store_batch *whole, tt_error *error) {
  TT_TRY(need_link(store, error));
  tt_status status = tt_nats_names_put(store->names, store->link, whole, error);
  if (status == TT_OK) status = publish_all(store, whole, error);
  for (int i = 0; i < MOST_OUTRUN && status == TT_AGAIN; i++)
    status = publish_all(store, whole, error);
  if (status == TT_OK)
    tt_told_state_set(&store->state, NULL);
  else
    lose(store, error);
  return status == TT_AGAIN ? TT_FAILED : status;
}

static tt_status jetstream_write(tt_store *base, const tt_store_batch *batch, tt_error *error) {
  jetstream *store = (jetstream *)base;
  pthread_mutex_lock(&store->naming);
  tt_store_batch *whole = tt_catalogue_add_batch(store->catalogue, batch)
                              ? tt_catalogue_complete(store->catalogue, batch)
                              : NULL;
  pthread_mutex_unlock(&store->naming);
  if (!whole) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = write_whole(store, whole, error);
  tt_store_batch_free(whole);
  if (status != TT_OK || !batch->samples.len) return status;
  pthread_mutex_lock(&store->naming);
  tt_catalogue_settle(store->catalogue);
  pthread_mutex_unlock(&store->naming);
  // The next batch has been filled since this one was taken, which was behind the end of the write before.
  store->taken = store->written;
  store->written = tt_monotonic_us() / 1000;
  return status;
}

static tt_status jetstream_write_foreign(tt_store *base, const tt_store_batch *batch,
                                         tt_error *error) {
  return write_whole((jetstream *)base, batch, error);
}

/* --- what is known --- */

/** What the collector knows by an index is to be known here by it, too. −1: out of memory. */
static int learn_name(jetstream *store, bool device, const char *identifier, const char *name,
                      bool *removed) {
  const tt_store_loader *loader = &store->loader;
  const int index =
      (device ? loader->device : loader->attribute)(loader->context, identifier, name, removed);
  pthread_mutex_lock(&store->naming);
  bool ok = tt_catalogue_add_name(store->catalogue, device, index, *removed ? NULL : identifier);
  pthread_mutex_unlock(&store->naming);
  return ok ? index : -1;
}

static int learn_device(void *context, const char *identifier, const char *name, bool *removed) {
  return learn_name(context, true, identifier, name, removed);
}

static int learn_attribute(void *context, const char *identifier, const char *name, bool *removed) {
  return learn_name(context, false, identifier, name, removed);
}

static bool pass_handlings(void *context, const tt_list *handlings) {
  const tt_store_loader *loader = &((jetstream *)context)->loader;
  return loader->handlings(loader->context, handlings);
}

static void pass_epoch(void *context, const tt_store_boot *boot) {
  const tt_store_loader *loader = &((jetstream *)context)->loader;
  loader->epoch(loader->context, boot);
}

static tt_status jetstream_load(tt_store *base, const tt_store_loader *loader, tt_error *error) {
  jetstream *store = (jetstream *)base;
  store->loader = *loader;
  tt_nats_names_tell(store->names, &(tt_store_loader){.context = store,
                                                      .device = learn_device,
                                                      .attribute = learn_attribute,
                                                      .handlings = pass_handlings,
                                                      .epoch = pass_epoch});
  if (store->link) disconnect(store);
  store->next_try = 0;
  return need_link(store, error) == TT_OK ? TT_OK : TT_AGAIN;
}

static bool is_away(jetstream *store) {
  tt_store_state state;
  tt_told_state_get(&store->state, &state);
  return state.degraded;
}

/** Whoever asked in vain has asked enough until the link is another: all others' messages wait behind an answer. */
static tt_status ask(jetstream *store, const tt_store_question *question, const char *identifier,
                     tt_list *boots) {
  tt_error error;
  tt_status status = TT_AGAIN;
  pthread_mutex_lock(&store->asking);
  if (store->asked && !store->unanswered)
    status = tt_nats_names_find(store->asked, question->device, identifier, boots, &error);
  store->unanswered |= status != TT_OK;
  pthread_mutex_unlock(&store->asking);
  return status == TT_OK ? TT_NOT_FOUND : TT_AGAIN;
}

static tt_status jetstream_find(tt_store *base, const tt_store_question *question, tt_list *boots,
                                int64_t *key) {
  (void)key;
  jetstream *store = (jetstream *)base;
  if (is_away(store)) return TT_AGAIN;
  pthread_mutex_lock(&store->naming);
  const char *known = tt_catalogue_device(store->catalogue, question->device);
  char *identifier = known ? strdup(known) : NULL;
  pthread_mutex_unlock(&store->naming);
  if (!identifier) return TT_NOT_FOUND;
  tt_status status = ask(store, question, identifier, boots);
  free(identifier);
  return status;
}

/* --- what others put into it --- */

/** In a thread of the library's. */
static void on_others(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                      void *context) {
  (void)connection, (void)subscription;
  jetstream *store = context;
  tt_error error;
  tt_nats_gather_clear(&store->gather);
  if (tt_nats_gather_add(&store->gather, natsMsg_GetData(message),
                         (size_t)natsMsg_GetDataLength(message), &error) == TT_OK)
    store->loader.others(store->loader.context, store->gather.batch);
  natsMsg_Destroy(message);
}

static void jetstream_follow(tt_store *base, bool follows) {
  ((jetstream *)base)->follows = follows;
}

/** Over the connection that publishes, which does not hear itself. */
static void tend_others(jetstream *store) {
  if (!store->follows) tt_nats_ear_close(&store->others);
  if (!store->follows || store->others.subscription || !store->loader.others) return;
  char subject[128];
  snprintf(subject, sizeof subject, "%s.log.>", tt_nats_link_name(store->link));
  natsStatus status = natsConnection_Subscribe(
      &store->others.subscription, tt_nats_link_connection(store->link), subject, on_others, store);
  tt_nats_ear_open(&store->others, status, MOST_FOLLOWED);
}

/** With the link up. */
static void tend_both(jetstream *store) {
  need_asked(store);
  tend_others(store);
}

static bool jetstream_tend(tt_store *base) {
  jetstream *store = (jetstream *)base;
  tt_error error;
  if (need_link(store, &error) != TT_OK || atomic_load(&store->hurried)) return false;
  if (tt_nats_names_look(store->names, store->link, &error) != TT_OK)
    lose(store, &error);
  else
    tend_both(store);
  return false;
}

static void jetstream_state(tt_store *base, tt_store_state *state) {
  jetstream *store = (jetstream *)base;
  tt_told_state_get(&store->state, state);
}

static void jetstream_hurry(tt_store *base) { atomic_store(&((jetstream *)base)->hurried, true); }

/* --- beginning and end --- */

static void jetstream_close(tt_store *base) {
  jetstream *store = (jetstream *)base;
  if (store->names) disconnect(store);
  tt_nats_link_close(store->asked);
  tt_nats_gather_end(&store->gather);
  tt_nats_names_free(store->names);
  tt_catalogue_free(store->catalogue);
  pthread_mutex_destroy(&store->naming);
  pthread_mutex_destroy(&store->asking);
  tt_told_state_clear(&store->state);
  free(store->url);
  free(store);
}

static tt_status jetstream_open(const tt_store_options *options, tt_store **out, tt_error *error) {
  jetstream *store = calloc(1, sizeof *store);
  if (!store) return tt_fail(error, TT_NOMEM, "out of memory");
  store->base = (tt_store){.backend = &tt_jetstream_backend,
                           .load = jetstream_load,
                           .write = jetstream_write,
                           .write_foreign = jetstream_write_foreign,
                           .find = jetstream_find,
                           .tend = jetstream_tend,
                           .follow = jetstream_follow,
                           .state = jetstream_state,
                           .hurry = jetstream_hurry,
                           .close = jetstream_close};
  store->url = strdup(options->url);
  store->catalogue = tt_catalogue_new();
  store->names = tt_nats_names_new();
  pthread_mutex_init(&store->naming, NULL);
  pthread_mutex_init(&store->asking, NULL);
  tt_told_state_init(&store->state);
  bool made =
      store->url && store->catalogue && store->names && tt_nats_gather_begin(&store->gather);
  tt_status status =
      made ? connect_and_load(store, error) : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_FAILED && options->may_be_away) {
    tt_told_state_set(&store->state, error->text);
    status = TT_OK;
  }
  if (status != TT_OK) {
    jetstream_close(&store->base);
    return status;
  }
  *out = &store->base;
  return TT_OK;
}

const tt_store_backend tt_jetstream_backend = {
    .kind = "jetstream",
    .schemes = (const char *const[]){"nats://", NULL},
    .example = NULL,
    .abilities = TT_STORE_SHARED | TT_STORE_REMOTE | TT_STORE_FORWARDS,
    .check = tt_nats_address_check,
    .open = jetstream_open,
    .open_log = tt_jetstream_open_log};
