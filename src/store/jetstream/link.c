/* link.c: options, stream and bucket, and publishing with a deadline. */
#include "store/jetstream/link.h"

#include "base/clock.h"
#include "store/jetstream/stream_check.h"
#include "store/map.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** ms: for an answer; for a stream that is made, of which servers have to agree first. */
#define REQUEST_PATIENCE 1500
#define MAKING_PATIENCE 5000
#define LONGEST_SUBJECT 128
#define LONGEST_SAID 128
/** Without an answer for so long it is asked whether anybody is there. Who is and stores nothing is given up in the end. */
#define SILENCE 500
#define ASKED_PATIENCE 1000
#define BUSY_PATIENCE 10000
/** ns: servers of a cluster hear of each other each second. */
#define LATELY (2 * INT64_C(1000000000))
/** ms for an answer where all is to end soon. */
#define HURRIED_PATIENCE 1000
/** Messages on their way at a time, and their bytes: the server answers a ping behind them, and is gone where that takes a second. As
 *  long as all of them are answered soon (ms), twice as many may be, up to eight times. */
#define MOST_UNDER_WAY 64
#define MOST_BYTES (512 << 10)
#define MOST_FACTOR 8
#define SOON 250
/** ns in which the server knows a message that it was sent already. */
#define REPEAT_WINDOW (120 * INT64_C(1000000000))

/** ms, monotonic. */
static int64_t now(void) { return tt_monotonic_us() / 1000; }

struct tt_nats_link {
  tt_nats_address address;
  natsConnection *connection;
  jsCtx *js;
  kvStore *keys;
  const atomic_bool *hurried; /**< whether all is to end soon; NULL: never */
  pthread_mutex_t mutex;      /**< guards the rest */
  pthread_cond_t answered;
  unsigned under_way; /**< messages that were published and not answered */
  size_t bytes;       /**< of these */
  unsigned factor;    /**< by which more than the least may be under way */
  unsigned ahead;     /**< those under way up to the one by which it is measured; 0: none is */
  int64_t measured;   /**< when that was published; ms, monotonic */
  int64_t heard; /**< when one was answered, or published where none was under way; ms, monotonic */
  /** why the server did not take one, since the last flush; NATS_OK: it took all */
  natsStatus reason;
  char said[LONGEST_SAID]; /**< what the server said of that; "": nothing */
  bool outrun;             /**< others came before one, since the last flush */
  tt_map after; /**< hashes of a subject → place of our latest message there; 0: others came */
  tt_map since; /**< the same → since when all that came there was ours; ms, monotonic */
};

#define TRY(call, what)                                                                            \
  do {                                                                                             \
    natsStatus status_of_call = (call);                                                            \
    if (status_of_call != NATS_OK) return tt_nats_fail(status_of_call, what, error);               \
  } while (0)

/* --- connecting --- */

static tt_map_key key_of(const char *subject) { return tt_map_key_of(subject, strlen(subject)); }

/** Notes where our latest message is; 0: others may have come before what comes next. Keys of the bucket are of no interest. */
static void note_latest(tt_nats_link *link, const char *subject, int64_t place) {
  if (subject[0] == '$') return;
  const tt_map_key key = key_of(subject);
  const int64_t *before = tt_map_get(&link->after, key);
  bool begins = place && !(before && *before);
  if (!tt_map_put(&link->after, key, place) || (begins && !tt_map_put(&link->since, key, now())))
    link->reason = NATS_NO_MEMORY;
}

/** Notes where a message of ours is, or that others came before it. */
static void note_place(tt_nats_link *link, const char *subject, const jsPubAck *taken,
                       const jsPubAckErr *trouble) {
  if (taken && taken->Duplicate) return;
  note_latest(link, subject, taken && !trouble ? (int64_t)taken->Sequence : 0);
}

/** All that was under way when there was no room has been answered: soon, or not. */
static void judge(tt_nats_link *link) {
  if (now() - link->measured >= SOON)
    link->factor = 1;
  else if (link->factor < MOST_FACTOR)
    link->factor *= 2;
}

/** One of `size` bytes is under way no more. Locked. */
static void count_down(tt_nats_link *link, size_t size) {
  link->under_way--;
  link->bytes -= size < link->bytes ? size : link->bytes;
  if (link->ahead && --link->ahead == 0) judge(link);
}

/** In a thread of the library's. */
static void on_answer(jsCtx *js, natsMsg *message, jsPubAck *taken, jsPubAckErr *trouble,
                      void *context) {
  (void)js;
  tt_nats_link *link = context;
  const bool outrun = trouble && trouble->ErrCode == JSStreamWrongLastSequenceErr;
  pthread_mutex_lock(&link->mutex);
  link->outrun |= outrun;
  if (trouble && !outrun) {
    link->reason = trouble->Err;
    if (trouble->ErrCode && trouble->ErrText)
      snprintf(link->said, sizeof link->said, "%s", trouble->ErrText);
  }
  note_place(link, natsMsg_GetSubject(message), taken, trouble);
  link->heard = now();
  if (link->under_way) count_down(link, (size_t)natsMsg_GetDataLength(message));
  pthread_cond_broadcast(&link->answered);
  pthread_mutex_unlock(&link->mutex);
  natsMsg_Destroy(message);
}

/** The name of the bucket's stream. */
static void print_bucket(const tt_nats_link *link, char stream[LONGEST_SUBJECT]) {
  snprintf(stream, LONGEST_SUBJECT, "KV_%s", link->address.name);
}

static tt_status need_stream(tt_nats_link *link, tt_error *error) {
  const tt_nats_address *address = &link->address;
  char samples[LONGEST_SUBJECT], settings[LONGEST_SUBJECT];
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetStreamInfo(&info, link->js, address->name, NULL, &code);
  const tt_status checked =
      status == NATS_OK ? tt_nats_check_stream(info->Config, address->replicas, error) : TT_OK;
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK) return checked;
  if (status != NATS_NOT_FOUND)
    return tt_nats_fail_request(link->connection, status, "the stream", error);
  snprintf(samples, sizeof samples, "%s.log.>", address->name);
  snprintf(settings, sizeof settings, "%s.settings", address->name);
  const char *subjects[] = {samples, settings};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = address->name;
  config.Subjects = subjects;
  config.SubjectsLen = 2;
  config.Storage = js_FileStorage;
  config.Replicas = address->replicas;
  config.Duplicates = REPEAT_WINDOW;
  config.AllowDirect = true;
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = MAKING_PATIENCE;
  status = js_AddStream(NULL, link->js, &config, &options, &code);
  return status == NATS_OK
             ? TT_OK
             : tt_nats_fail_request(link->connection, status, "making the stream", error);
}

/** Only warned of: where nobody answers, another request finds that out. */
static void check_bucket(tt_nats_link *link) {
  char stream[LONGEST_SUBJECT];
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  print_bucket(link, stream);
  if (js_GetStreamInfo(&info, link->js, stream, NULL, &code) == NATS_OK)
    tt_nats_check_bucket(info->Config, link->address.replicas);
  jsStreamInfo_Destroy(info);
}

static tt_status need_bucket(tt_nats_link *link, tt_error *error) {
  natsStatus status = js_KeyValue(&link->keys, link->js, link->address.name);
  if (status == NATS_OK) check_bucket(link);
  if (status == NATS_OK) return TT_OK;
  if (status != NATS_NOT_FOUND)
    return tt_nats_fail_request(link->connection, status, "the bucket", error);
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = link->address.name;
  config.History = 1;
  config.Replicas = link->address.replicas;
  TRY(js_CreateKeyValue(&link->keys, link->js, &config), "making the bucket");
  return TT_OK;
}

static tt_status open_all(tt_nats_link *link, tt_error *error) {
  TT_TRY(tt_nats_connect(&link->address, &link->connection, error));
  tt_nats_warn_of_short("the server", natsConnection_GetMaxPayload(link->connection),
                        "give it a max_payload of 1MB, as it has by default");
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = REQUEST_PATIENCE;
  options.PublishAsync.MaxPending = MOST_FACTOR * MOST_UNDER_WAY;
  options.PublishAsync.StallWait = REQUEST_PATIENCE;
  options.PublishAsync.AckHandler = on_answer;
  options.PublishAsync.AckHandlerClosure = link;
  TRY(natsConnection_JetStream(&link->js, link->connection, &options), "JetStream");
  TT_TRY(need_stream(link, error));
  return need_bucket(link, error);
}

tt_status tt_nats_link_open(const char *url, tt_nats_link **out, tt_error *error) {
  tt_nats_link *link = calloc(1, sizeof *link);
  if (!link) return tt_fail(error, TT_NOMEM, "out of memory");
  link->factor = 1;
  pthread_mutex_init(&link->mutex, NULL);
  pthread_cond_init(&link->answered, NULL);
  tt_status status = tt_nats_address_parse(url, &link->address, error);
  if (status == TT_OK) status = open_all(link, error);
  if (status == TT_OK)
    *out = link;
  else
    tt_nats_link_close(link);
  return status;
}

void tt_nats_link_close(tt_nats_link *link) {
  if (!link) return;
  kvStore_Destroy(link->keys);
  jsCtx_Destroy(link->js);
  natsConnection_Destroy(link->connection);
  tt_nats_address_clear(&link->address);
  tt_map_clear(&link->after);
  tt_map_clear(&link->since);
  pthread_mutex_destroy(&link->mutex);
  pthread_cond_destroy(&link->answered);
  free(link);
}

void tt_nats_link_hear_of_hurry(tt_nats_link *link, const atomic_bool *hurried) {
  link->hurried = hurried;
}

bool tt_nats_link_is_up(const tt_nats_link *link) {
  return natsConnection_Status(link->connection) == NATS_CONN_STATUS_CONNECTED;
}

const char *tt_nats_link_name(const tt_nats_link *link) { return link->address.name; }
natsConnection *tt_nats_link_connection(tt_nats_link *link) { return link->connection; }
jsCtx *tt_nats_link_js(tt_nats_link *link) { return link->js; }
kvStore *tt_nats_link_keys(tt_nats_link *link) { return link->keys; }

tt_status tt_nats_link_bucket_made(tt_nats_link *link, int64_t patience, int64_t *made,
                                   tt_error *error) {
  char stream[LONGEST_SUBJECT];
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = patience;
  print_bucket(link, stream);
  natsStatus status = js_GetStreamInfo(&info, link->js, stream, &options, &code);
  if (status == NATS_NOT_FOUND)
    return tt_fail(error, TT_NOT_FOUND, "nats: somebody removed the bucket %s", link->address.name);
  if (status != NATS_OK) return tt_nats_fail(status, "the bucket", error);
  *made = info->Created;
  jsStreamInfo_Destroy(info);
  return TT_OK;
}

/* --- publishing --- */

static void count_up(tt_nats_link *link, size_t size) {
  pthread_mutex_lock(&link->mutex);
  if (!link->under_way) link->heard = now();
  link->under_way++;
  link->bytes += size;
  pthread_mutex_unlock(&link->mutex);
}

/** Whether most of those who have a stream were heard of lately by the one who answers for it: fewer store nothing. */
static bool are_enough(const jsClusterInfo *cluster) {
  int there = 1;
  if (!cluster) return true;
  for (int i = 0; i < cluster->ReplicasLen; i++)
    there += !cluster->Replicas[i]->Offline && cluster->Replicas[i]->Active < LATELY;
  return 2 * there > 1 + cluster->ReplicasLen;
}

/** Whether servers answer for a stream that can store. */
static bool can_store(tt_nats_link *link, const char *stream) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = ASKED_PATIENCE;
  const natsStatus status = js_GetStreamInfo(&info, link->js, stream, &options, &code);
  const bool can = status == NATS_OK && are_enough(info->Cluster);
  jsStreamInfo_Destroy(info);
  return can;
}

/** Whether there is who stores messages, and keys of the bucket. */
static bool is_there(tt_nats_link *link) {
  char bucket[LONGEST_SUBJECT];
  print_bucket(link, bucket);
  return can_store(link, link->address.name) && can_store(link, bucket);
}

/** When whoever waits since `begun` is tired of it; ms, monotonic. Locked. */
static int64_t end_of_wait(const tt_nats_link *link, int64_t begun) {
  return link->hurried && atomic_load(link->hurried) ? begun + HURRIED_PATIENCE
                                                     : link->heard + BUSY_PATIENCE;
}

/** Whether there is room for a message of so many bytes; 0: whether nothing is under way. Locked. */
static bool has_room(const tt_nats_link *link, size_t size) {
  return !link->under_way || (size && link->under_way < link->factor * MOST_UNDER_WAY &&
                              link->bytes + size <= link->factor * (size_t)MOST_BYTES);
}

/** Until there is room, nobody is there, or nobody has stored anything for long. What a busy server does not answer soon
 *  is waited for: who gives it up and publishes it again makes it busier, and is behind what was given up. Locked. */
static void wait_for_room(tt_nats_link *link, size_t size) {
  const int64_t begun = now();
  int64_t looked = 0;
  while (!has_room(link, size)) {
    const int64_t look = (link->heard > looked ? link->heard : looked) + SILENCE;
    if (now() >= end_of_wait(link, begun)) return;
    if (now() < look) {
      tt_wait_until(&link->answered, &link->mutex, look * 1000);
      continue;
    }
    pthread_mutex_unlock(&link->mutex);
    const bool there = is_there(link);
    pthread_mutex_lock(&link->mutex);
    if (!there && link->heard < look) return;
    looked = now();
  }
}

/** False: nobody takes more. */
static bool need_room(tt_nats_link *link, size_t size) {
  pthread_mutex_lock(&link->mutex);
  if (!has_room(link, size ? size : 1) && !link->ahead) {
    link->ahead = link->under_way;
    link->measured = now();
  }
  wait_for_room(link, size ? size : 1);
  const bool room = has_room(link, size ? size : 1);
  pthread_mutex_unlock(&link->mutex);
  return room;
}

uint64_t tt_nats_link_latest(tt_nats_link *link, const char *subject, int64_t *since) {
  const tt_map_key key = key_of(subject);
  pthread_mutex_lock(&link->mutex);
  const int64_t *place = tt_map_get(&link->after, key), *begun = tt_map_get(&link->since, key);
  const uint64_t latest = place ? (uint64_t)*place : 0;
  *since = begun ? *begun : now();
  pthread_mutex_unlock(&link->mutex);
  return latest;
}

/** Others may come before what is published on a subject whatever is there. */
static void break_chain(tt_nats_link *link, const char *subject) {
  pthread_mutex_lock(&link->mutex);
  note_latest(link, subject, 0);
  pthread_mutex_unlock(&link->mutex);
}

tt_status tt_nats_link_publish(tt_nats_link *link, const char *subject, const char *id,
                               uint64_t after, const void *bytes, size_t size, tt_error *error) {
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MsgId = id;
  options.ExpectLastSubjectSeq = after; /* how long to wait is for the flush behind it to say */
  if (!tt_nats_link_is_up(link)) return tt_fail(error, TT_FAILED, "nats: the connection is lost");
  if (!need_room(link, size)) return tt_nats_fail(NATS_TIMEOUT, "publishing", error);
  if (!after) break_chain(link, subject);
  count_up(link, size);
  natsStatus status = js_PublishAsync(link->js, subject, bytes, (int)size, &options);
  if (status == NATS_OK) return TT_OK;
  pthread_mutex_lock(&link->mutex);
  if (link->under_way) count_down(link, size);
  pthread_mutex_unlock(&link->mutex);
  return tt_nats_fail(status, "publishing", error);
}

/** What became of all that was published; what is not answered is under way no more. */
static natsStatus take_outcome(tt_nats_link *link, bool *outrun, char said[LONGEST_SAID]) {
  pthread_mutex_lock(&link->mutex);
  wait_for_room(link, 0);
  natsStatus status = link->under_way ? NATS_TIMEOUT : link->reason;
  *outrun = link->outrun;
  link->outrun = false;
  link->under_way = 0;
  link->bytes = 0;
  link->ahead = 0;
  link->reason = NATS_OK;
  memcpy(said, link->said, sizeof link->said);
  link->said[0] = 0;
  pthread_mutex_unlock(&link->mutex);
  return status;
}

/** Forgets what nobody answered: whoever wants it in the stream publishes it again. */
static void drop_pending(tt_nats_link *link) {
  natsMsgList pending = {0};
  if (js_PublishAsyncGetPendingList(&pending, link->js) == NATS_OK) natsMsgList_Destroy(&pending);
}

tt_status tt_nats_link_flush(tt_nats_link *link, tt_error *error) {
  bool outrun;
  char said[LONGEST_SAID];
  natsStatus status = take_outcome(link, &outrun, said);
  if (status == NATS_OK)
    return outrun ? tt_fail(error, TT_AGAIN, "nats: others sent what comes before") : TT_OK;
  drop_pending(link);
  if (*said) return tt_fail(error, TT_FAILED, "nats: the stream does not take it: %s", said);
  return tt_nats_fail(status, "the stream does not take it", error);
}
