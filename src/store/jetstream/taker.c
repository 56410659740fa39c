/* taker.c: the other end of the stream: its messages, gathered into batches, by a consumer that the server remembers. What is not done
 * comes again, to whoever takes next.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/jetstream/internal.h"
#include "store/jetstream/link.h"
#include "store/jetstream/message.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Messages, and bytes of them, in one batch: what a slow store takes in a second or so, since it may be given no more at a time. */
#define MOST_MESSAGES 512
#define MOST_BYTES (2u << 20)
/** Messages that are taken where they were waited for. */
#define FIRST_MESSAGES 16
/** ns for the server to send what it has. */
#define FETCH_PATIENCE INT64_C(1000000000)
/** Messages that may be in hand of all who take. */
#define MOST_IN_HAND 20000
/** ns after which what is not done comes again. */
#define HAND_BACK (10 * INT64_C(1000000000))
/** What is done stays so long, µs, and is looked at so often. */
#define KEPT (24 * 3600 * INT64_C(1000000))
#define PURGE_INTERVAL (60 * INT64_C(1000000))
/** ms; µs between two looks where nothing comes. */
#define LOOK_PATIENCE 1000
#define LOOK_INTERVAL INT64_C(1000000)

/** Of a message that is taken only behind a certain one of its subject: that one's place. The server keeps it. */
#define AFTER "Nats-Expected-Last-Subject-Sequence"

typedef struct taker {
  tt_store_log base;
  char *url, *name;
  int64_t replay;
  pthread_mutex_t mutex; /**< guards `link` while it is exchanged, for is_there() */
  tt_nats_link *link;    /**< NULL: there is none */
  natsSubscription *subscription;
  int64_t identity; /**< of the stream */
  tt_nats_gather gather;
  natsMsgList in_hand;
  uint32_t taken; /**< of these, those that the batch has */
  int64_t next_purge, next_look;
  uint64_t bad; /**< messages that were none */
} taker;

/** What is not done goes to whoever takes next, at once; where that can't be said, after HAND_BACK. */
static void give_up(taker *of) {
  for (int i = 0; i < of->in_hand.Count; i++) natsMsg_Nak(of->in_hand.Msgs[i], NULL);
  if (of->in_hand.Count) natsConnection_FlushTimeout(tt_nats_link_connection(of->link), 1000);
}

static void hand_back(taker *of) {
  natsMsgList_Destroy(&of->in_hand);
  of->in_hand = (natsMsgList){0};
  of->base.state.in_hand = 0;
  of->base.state.oldest = 0;
}

static void set_link(taker *of, tt_nats_link *link) {
  pthread_mutex_lock(&of->mutex);
  of->link = link;
  pthread_mutex_unlock(&of->mutex);
}

static bool taker_is_there(tt_store_log *base) {
  taker *of = (taker *)base;
  pthread_mutex_lock(&of->mutex);
  bool is_up = of->link && tt_nats_link_is_up(of->link);
  pthread_mutex_unlock(&of->mutex);
  return is_up;
}

static void disconnect(taker *of) {
  tt_nats_link *link = of->link;
  hand_back(of);
  natsSubscription_Destroy(of->subscription);
  of->subscription = NULL;
  set_link(of, NULL);
  tt_nats_link_close(link);
}

/* --- connecting --- */

/** A consumer for a replay is new, and begins at its time. */
static natsStatus subscribe(taker *of) {
  char subject[128];
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = tt_nats_link_name(of->link);
  options.Config.AckPolicy = js_AckExplicit;
  options.Config.AckWait = HAND_BACK;
  options.Config.MaxAckPending = MOST_IN_HAND;
  options.Config.DeliverPolicy = js_DeliverAll;
  if (of->replay > 0 && of->replay != INT64_MAX) {
    options.Config.DeliverPolicy = js_DeliverByStartTime;
    options.Config.OptStartTime = of->replay * 1000;
  }
  snprintf(subject, sizeof subject, "%s.>", tt_nats_link_name(of->link));
  return js_PullSubscribe(&of->subscription, tt_nats_link_js(of->link), subject, of->name, NULL,
                          &options, NULL);
}

/** One that is made anew counts anew. */
static natsStatus identify(taker *of) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  const char *name = tt_nats_link_name(of->link);
  natsStatus status = js_GetStreamInfo(&info, tt_nats_link_js(of->link), name, NULL, &code);
  if (status == NATS_OK)
    of->identity = (int64_t)tt_hash_bytes(tt_hash_bytes(TT_HASH_START, name, strlen(name)),
                                          &info->Created, sizeof info->Created);
  jsStreamInfo_Destroy(info);
  return status;
}

static tt_status need_link(taker *of, tt_error *error) {
  if (of->link && tt_nats_link_is_up(of->link)) return TT_OK;
  if (of->link) {  // which is told before another one is tried
    disconnect(of);
    return tt_fail(error, TT_FAILED, "nats: the connection is lost");
  }
  tt_nats_link *link;
  TT_TRY(tt_nats_link_open(of->url, &link, error));
  set_link(of, link);
  natsStatus status = subscribe(of);
  if (status == NATS_OK) status = identify(of);
  if (status == NATS_OK) return TT_OK;
  disconnect(of);
  return tt_nats_fail(status, "taking from the stream", error);
}

/* --- taking --- */

/** The place behind which a message was put there. */
static int64_t after_of(natsMsg *message, int64_t place) {
  const char *text = NULL;
  const int64_t after =
      natsMsgHeader_Get(message, AFTER, &text) == NATS_OK ? strtoll(text, NULL, 10) : 0;
  return after > 0 && after < place ? after : place - 1;
}

/** Says of the samples from `first` on where their message stands. What comes again has been passed by others: what its device sent once
 *  more may be stored already. */
static void note_place(tt_store_batch *batch, uint32_t first, natsMsg *message) {
  jsMsgMetaData *about = NULL;
  bool known = natsMsg_GetMetaData(&about, message) == NATS_OK;
  const int64_t place = known ? (int64_t)about->Sequence.Stream : 0;
  const int64_t after = known ? after_of(message, place) : 0;
  for (uint32_t i = first; i < batch->samples.len; i++) {
    tt_store_sample *sample = &tt_list_at(&batch->samples, tt_store_sample, i);
    sample->place = place;
    sample->after = after;
    if (!known || about->NumDelivered > 1) sample->flags |= TT_SAMPLE_UNSURE;
  }
  jsMsgMetaData_Destroy(about);
}

/** A message that is none is said, and done: it would come again for ever. */
static tt_status take_message(taker *of, natsMsg *message, tt_error *error) {
  const uint32_t first = of->gather.batch->samples.len;
  tt_status status = tt_nats_gather_add(&of->gather, natsMsg_GetData(message),
                                        (size_t)natsMsg_GetDataLength(message), error);
  if (status == TT_OK) note_place(of->gather.batch, first, message);
  if (status != TT_BAD_MESSAGE) return status;
  if (!of->bad++)
    tt_log_warning("nats: a message of %s is passed over: %s", natsMsg_GetSubject(message),
                   error->text);
  return TT_OK;
}

static tt_status gather_all(taker *of, tt_error *error) {
  tt_nats_gather_clear(&of->gather);
  of->gather.batch->log = of->identity;
  for (int i = 0; i < of->in_hand.Count; i++) TT_TRY(take_message(of, of->in_hand.Msgs[i], error));
  return TT_OK;
}

static void taker_look(tt_store_log *base) {
  taker *of = (taker *)base;
  jsConsumerInfo *info = NULL;
  jsErrCode code = 0;
  jsOptions options;
  of->next_look = tt_monotonic_us() + LOOK_INTERVAL;
  if (!of->link || !tt_nats_link_is_up(of->link)) return;
  jsOptions_Init(&options);
  options.Wait = LOOK_PATIENCE;
  if (js_GetConsumerInfo(&info, tt_nats_link_js(of->link), tt_nats_link_name(of->link), of->name,
                         &options, &code) == NATS_OK)
    of->base.state.waiting = info->NumPending;
  jsConsumerInfo_Destroy(info);
}

/** Notes what the server says of the messages that came. */
static void note_taken(taker *of) {
  tt_store_log_state *state = &of->base.state;
  state->in_hand = (uint64_t)of->in_hand.Count;
  for (int i = 0; i < of->in_hand.Count; i++) {
    jsMsgMetaData *about = NULL;
    if (natsMsg_GetMetaData(&about, of->in_hand.Msgs[i]) != NATS_OK) continue;
    const int64_t came = about->Timestamp / 1000;
    if (!state->oldest || came < state->oldest) state->oldest = came;
    state->redelivered += about->NumDelivered > 1;
    state->waiting = about->NumPending;
    jsMsgMetaData_Destroy(about);
  }
}

/** All that is there now, or, where there is nothing, the first ones that come. */
static natsStatus fetch_some(taker *of, int64_t patience) {
  jsErrCode code = 0;
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = MOST_MESSAGES;
  request.MaxBytes = MOST_BYTES;
  request.NoWait = true;
  request.Expires = FETCH_PATIENCE;
  natsStatus status = natsSubscription_FetchRequest(&of->in_hand, of->subscription, &request);
  if (status != NATS_TIMEOUT && status != NATS_NOT_FOUND) return status;
  return natsSubscription_Fetch(&of->in_hand, of->subscription, FIRST_MESSAGES,
                                patience > 1000 ? patience / 1000 : 1, &code);
}

static tt_status fetch(taker *of, int64_t patience, tt_error *error) {
  natsStatus status = fetch_some(of, patience);
  if (status == NATS_TIMEOUT) {
    if (tt_monotonic_us() >= of->next_look) taker_look(&of->base);
    return TT_AGAIN;
  }
  if (status != NATS_OK) {
    disconnect(of);
    return tt_nats_fail(status, "taking from the stream", error);
  }
  note_taken(of);
  return TT_OK;
}

static tt_status taker_take(tt_store_log *base, int64_t patience, const tt_store_batch **batch,
                            tt_error *error) {
  taker *of = (taker *)base;
  TT_TRY(need_link(of, error));
  hand_back(of);
  TT_TRY(fetch(of, patience, error));
  TT_TRY(gather_all(of, error));
  *batch = of->gather.batch;
  return TT_OK;
}

/* --- what is done --- */

/** The time at which a message came into the stream, µs UTC. */
static bool time_of(taker *of, uint64_t sequence, int64_t *time) {
  natsMsg *message = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetMsg(&message, tt_nats_link_js(of->link), tt_nats_link_name(of->link),
                                sequence, NULL, &code);
  if (status != NATS_OK) return false;
  *time = natsMsg_GetTime(message) / 1000;
  natsMsg_Destroy(message);
  return true;
}

/** The first message that every consumer has done not, or 0. */
static uint64_t find_floor(taker *of) {
  jsConsumerInfoList *list = NULL;
  jsErrCode code = 0;
  uint64_t floor = UINT64_MAX;
  natsStatus status =
      js_Consumers(&list, tt_nats_link_js(of->link), tt_nats_link_name(of->link), NULL, &code);
  for (int i = 0; status == NATS_OK && i < list->Count; i++) {
    const jsConsumerInfo *info = list->List[i];
    if (info->Config->Durable && info->AckFloor.Stream < floor) floor = info->AckFloor.Stream;
  }
  jsConsumerInfoList_Destroy(list);
  return floor == UINT64_MAX ? 0 : floor;
}

/** Removes what every consumer has done, and that is older than a day. */
static void purge(taker *of) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  jsCtx *js = tt_nats_link_js(of->link);
  const char *name = tt_nats_link_name(of->link);
  const int64_t before = tt_wall_us() - KEPT;
  uint64_t last = find_floor(of), first;
  int64_t time;
  if (!last || js_GetStreamInfo(&info, js, name, NULL, &code) != NATS_OK) return;
  first = info->State.FirstSeq;
  jsStreamInfo_Destroy(info);
  if (first > last || !time_of(of, first, &time) || time >= before) return;
  while (first < last) {  // the last one that is old enough lies between them
    const uint64_t middle = first + (last - first + 1) / 2;
    if (!time_of(of, middle, &time)) return;
    if (time < before)
      first = middle;
    else
      last = middle - 1;
  }
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Purge.Sequence = first + 1;
  js_PurgeStream(js, name, &options, &code);
}

static void tend(taker *of) {
  const int64_t now = tt_monotonic_us();
  if (now < of->next_purge) return;
  of->next_purge = now + PURGE_INTERVAL;
  purge(of);
}

static tt_status taker_done(tt_store_log *base, tt_error *error) {
  taker *of = (taker *)base;
  natsStatus status = NATS_OK;
  for (int i = 0; i < of->in_hand.Count && status == NATS_OK; i++)
    status = natsMsg_Ack(of->in_hand.Msgs[i], NULL);
  hand_back(of);
  if (status != NATS_OK) return tt_nats_fail(status, "saying what is stored", error);
  tend(of);
  return TT_OK;
}

/* --- beginning and end --- */

static void taker_close(tt_store_log *base) {
  taker *of = (taker *)base;
  give_up(of);
  disconnect(of);
  tt_nats_gather_end(&of->gather);
  pthread_mutex_destroy(&of->mutex);
  free(of->url);
  free(of->name);
  free(of);
}

tt_status tt_jetstream_open_log(const tt_store_log_options *options, tt_store_log **out,
                                tt_error *error) {
  taker *of = calloc(1, sizeof *of);
  if (!of) return tt_fail(error, TT_NOMEM, "out of memory");
  of->base = (tt_store_log){.take = taker_take,
                            .done = taker_done,
                            .look = taker_look,
                            .is_there = taker_is_there,
                            .close = taker_close};
  pthread_mutex_init(&of->mutex, NULL);
  of->url = strdup(options->url);
  of->name = strdup(options->name);
  of->replay = options->replay;
  bool made = of->url && of->name && tt_nats_gather_begin(&of->gather);
  tt_status status = made ? need_link(of, error) : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    taker_close(&of->base);
    return status;
  }
  *out = &of->base;
  return TT_OK;
}
