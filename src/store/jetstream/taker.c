/* taker.c: the other end of the stream: its messages, gathered into batches, by a consumer that the server remembers. What is not done
 * comes again, to whoever takes next.
 *
 * While one batch is being stored a thread takes what is there for the next. It has the gathering and the messages of the next batch
 * between fetch_ahead() and settle(), and nothing else; who calls has all the rest at all times.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/jetstream/internal.h"
#include "store/jetstream/link.h"
#include "store/jetstream/message.h"
#include "store/jetstream/names.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Bytes that are asked for at a time; the longest message has room in them. The answer to a ping queues behind them: with more, a
 *  slow connection would look lost. */
#define PIECE_BYTES (17u << 16)
_Static_assert(PIECE_BYTES > TT_NATS_MESSAGE_MOST, "or it would never come");
/** Messages, and bytes of them, in one batch, where its store has no wishes: what a slow one takes in a second or so. */
#define USUAL_MESSAGES 512
#define USUAL_BYTES (2 * PIECE_BYTES)
/** Requests in a row that may end for want of room, before the next message is taken for too long. */
#define MOST_LIMITED 3
/** µs that the thread waits for the first message of a batch; for messages that are there to come; and at least. */
#define AHEAD_PATIENCE INT64_C(100000)
#define TRANSFER_PATIENCE INT64_C(1000000)
#define LEAST_PATIENCE INT64_C(1000)
/** Messages that may be in hand of all who take. */
#define MOST_IN_HAND 20000
/** µs after which the server is told that a batch was taken before its turn: it has all of tt_nats_hand_back from its turn on. */
#define WAITS_LONG INT64_C(1000000)
/** What is done stays so long, µs, and is looked at so often. */
#define KEPT (24 * 3600 * INT64_C(1000000))
#define PURGE_INTERVAL (60 * INT64_C(1000000))
/** ms; µs between two looks where nothing comes. */
#define LOOK_PATIENCE 1000
#define LOOK_INTERVAL INT64_C(1000000)

/** Of a message that is taken only behind a certain one of its subject: that one's place. The server keeps it. */
#define AFTER "Nats-Expected-Last-Subject-Sequence"

int64_t tt_nats_hand_back = 10 * INT64_C(1000000000);

/** Messages that were taken, and not done. */
typedef struct hand {
  tt_list messages; /**< natsMsg * */
  size_t bytes;
  int64_t begun; /**< µs: when the first of them were asked for, before the server gave them */
} hand;

typedef struct taker {
  tt_store_log base;
  char *url, *name;
  int64_t replay;
  tt_store_portion portion;
  pthread_mutex_t mutex; /**< guards `link` while it is exchanged, for is_there() */
  tt_nats_link *link;    /**< NULL: there is none */
  natsSubscription *subscription;
  int64_t identity;      /**< of the stream */
  hand now;              /**< what the batch has that is being stored */
  tt_store_batch *batch; /**< that one */
  hand next;             /**< what the next one has so far */
  tt_nats_gather gather; /**< into the next one */
  uint64_t bad;          /**< messages that were none */
  int64_t asked;         /**< µs: what stands at the subscription was asked for then or later */
  int limited; /**< pieces without a message in which the next one had no room, in a row */
  /** no message is done yet, and some were removed: the store knows nothing of what they set */
  bool is_new;
  int64_t next_purge, next_look;
  int64_t given; /**< µs, monotonic: when the last batch was */

  pthread_t ahead;
  bool has_ahead;       /**< the thread was started */
  pthread_mutex_t turn; /**< guards the rest */
  pthread_cond_t changed;
  bool fetching, ending;
  tt_status fetched; /**< how it went */
  tt_error error;
} taker;

static natsMsg *message_of(const hand *of, uint32_t i) {
  return tt_list_at(&of->messages, natsMsg *, i);
}

/** What is not done goes to whoever takes next, at once; where that can't be said, after tt_nats_hand_back. */
static void give_up(taker *of) {
  for (uint32_t i = 0; i < of->now.messages.len; i++) natsMsg_Nak(message_of(&of->now, i), NULL);
  for (uint32_t i = 0; i < of->next.messages.len; i++) natsMsg_Nak(message_of(&of->next, i), NULL);
  if (of->now.messages.len || of->next.messages.len)
    natsConnection_FlushTimeout(tt_nats_link_connection(of->link), 1000);
}

static void let_go(hand *of) {
  tt_list_cut(&of->messages, 0);
  of->bytes = 0;
}

static void hand_back(taker *of) {
  let_go(&of->now);
  of->base.state.in_hand = 0;
  of->base.state.oldest = 0;
}

/** Waits until the thread has nothing to do. */
static void settle(taker *of) {
  pthread_mutex_lock(&of->turn);
  while (of->fetching) pthread_cond_wait(&of->changed, &of->turn);
  pthread_mutex_unlock(&of->turn);
}

/** The next batch begins. */
static void begin_next(taker *of) {
  tt_nats_gather_clear(&of->gather);
  of->fetched = TT_OK;
}

/** Lets go what nobody has seen: all of it comes again. */
static void drop_next(taker *of) {
  let_go(&of->next);
  tt_nats_gather_forget(&of->gather);
  begin_next(of);
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
  settle(of);
  drop_next(of);
  hand_back(of);
  natsSubscription_Destroy(of->subscription);
  of->subscription = NULL;
  set_link(of, NULL);
  tt_nats_link_close(link);
}

/* --- connecting --- */

/** Whether the consumer is there already, which goes on where it was. Notes whether its store has got nothing yet. */
static bool is_made(taker *of) {
  jsConsumerInfo *info = NULL;
  jsErrCode code = 0;
  const natsStatus status = js_GetConsumerInfo(&info, tt_nats_link_js(of->link),
                                               tt_nats_link_name(of->link), of->name, NULL, &code);
  of->is_new = status != NATS_OK || !info->AckFloor.Consumer;
  jsConsumerInfo_Destroy(info);
  return status == NATS_OK;
}

static bool replays(const taker *of) { return of->replay > 0 && of->replay != INT64_MAX; }

/** A consumer for a replay begins at its time. */
static natsStatus subscribe(taker *of) {
  char subject[128];
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = tt_nats_link_name(of->link);
  options.Config.AckPolicy = js_AckExplicit;
  options.Config.AckWait = tt_nats_hand_back;
  options.Config.MaxAckPending = MOST_IN_HAND;
  const bool made = is_made(of);
  if (!made) options.Config.DeliverPolicy = js_DeliverAll;
  if (made && replays(of) && !of->is_new)
    tt_log_warning("nats: the consumer %s goes on where it was; a replay needs a new name",
                   of->name);
  if (!made && replays(of)) {
    options.Config.DeliverPolicy = js_DeliverByStartTime;
    options.Config.OptStartTime = of->replay * 1000;
  }
  snprintf(subject, sizeof subject, "%s.>", tt_nats_link_name(of->link));
  return js_PullSubscribe(&of->subscription, tt_nats_link_js(of->link), subject, of->name, NULL,
                          &options, NULL);
}

/** One that is made anew counts anew; one of which nothing was removed has all that was ever set, but not behind the time of a replay. */
static natsStatus identify(taker *of) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  const char *name = tt_nats_link_name(of->link);
  natsStatus status = js_GetStreamInfo(&info, tt_nats_link_js(of->link), name, NULL, &code);
  if (status == NATS_OK) of->is_new &= info->State.FirstSeq > 1 || replays(of);
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

/** Has messages that came, also those after a failure; they go into the next batch. */
static tt_status gather_all(taker *of, natsMsgList *came, tt_error *error) {
  const uint32_t before = of->next.messages.len;
  bool kept = tt_list_add(&of->next.messages, came->Msgs, (uint32_t)came->Count);
  if (kept) came->Count = 0;  // they are the hand's now
  natsMsgList_Destroy(came);
  if (!kept) return tt_fail(error, TT_NOMEM, "out of memory");
  if (!before || of->asked < of->next.begun) of->next.begun = of->asked;
  for (uint32_t i = before; i < of->next.messages.len; i++) {
    natsMsg *message = message_of(&of->next, i);
    of->next.bytes += (size_t)natsMsg_GetDataLength(message);
    TT_TRY(take_message(of, message, error));
  }
  return TT_OK;
}

/** TT_FAILED: the consumer is gone, which the server tells nobody who waits for messages. */
static tt_status look(taker *of, tt_error *error) {
  jsConsumerInfo *info = NULL;
  jsErrCode code = 0;
  jsOptions options;
  of->next_look = tt_monotonic_us() + LOOK_INTERVAL;
  if (!of->link || !tt_nats_link_is_up(of->link)) return TT_OK;
  jsOptions_Init(&options);
  options.Wait = LOOK_PATIENCE;
  const natsStatus status = js_GetConsumerInfo(
      &info, tt_nats_link_js(of->link), tt_nats_link_name(of->link), of->name, &options, &code);
  if (status == NATS_OK) of->base.state.waiting = info->NumPending;
  jsConsumerInfo_Destroy(info);
  if (!tt_nats_is_missing(status, code)) return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "nats: somebody removed the consumer %s or its stream; it is made anew, and takes "
                 "all that is in the stream",
                 of->name);
}

static void taker_look(tt_store_log *base) {
  tt_error unheard;
  (void)look((taker *)base, &unheard);
}

/** Notes what the server says of the messages that came. */
static void note_taken(taker *of) {
  tt_store_log_state *state = &of->base.state;
  state->in_hand = of->now.messages.len;
  for (uint32_t i = 0; i < of->now.messages.len; i++) {
    jsMsgMetaData *about = NULL;
    if (natsMsg_GetMetaData(&about, message_of(&of->now, i)) != NATS_OK) continue;
    const int64_t came = about->Timestamp / 1000;
    if (!state->oldest || came < state->oldest) state->oldest = came;
    state->redelivered += about->NumDelivered > 1;
    state->waiting = about->NumPending;
    jsMsgMetaData_Destroy(about);
  }
}

/** Whether more would hardly make the next batch cheaper to store. */
static bool is_large(const taker *of) {
  return of->next.messages.len >= of->portion.messages / 2 ||
         of->next.bytes >= of->portion.bytes / 2;
}

/** What is waited for. */
typedef enum wanted {
  /** All that is there now, and fits; where there is nothing, what comes first: so the server takes a request that has both a time and no
   *  wait. */
  ANY,
  FULL /**< as much as fits */
} wanted;

/** Whether a request ended since the next message had no room in it; the library's versions have several statuses for that. */
static bool is_about_size(natsStatus status) {
  const char *said = status == NATS_OK ? NULL : nats_GetLastError(NULL);
  return said && strstr(said, "Exceeds MaxBytes");
}

/** Takes the next message alone, however long: one that has no room in a piece is none of ours, and would stop all that is behind it. */
static tt_status fetch_longest(taker *of, int64_t patience, tt_error *error) {
  natsMsgList came = {0};
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = 1;
  request.NoWait = true;
  request.Expires = 1000 * (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
  of->asked = tt_monotonic_us();
  const natsStatus status = natsSubscription_FetchRequest(&came, of->subscription, &request);
  if (status == NATS_TIMEOUT || status == NATS_NOT_FOUND || is_about_size(status)) return TT_OK;
  return status == NATS_OK ? gather_all(of, &came, error)
                           : tt_nats_fail(status, "taking from the stream", error);
}

/** Takes a piece of what is wanted into the next batch, and what there is of it after `patience` (µs). */
static tt_status fetch_piece(taker *of, wanted what, int64_t patience, tt_error *error) {
  natsMsgList came = {0};
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = (int)(of->portion.messages - of->next.messages.len);
  request.MaxBytes = PIECE_BYTES;
  request.NoWait = what == ANY;
  request.Expires = 1000 * (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
  int left = 0;  // what came when the request before was over
  natsSubscription_GetPending(of->subscription, &left, NULL);
  if (left <= 0) of->asked = tt_monotonic_us();
  natsStatus status = natsSubscription_FetchRequest(&came, of->subscription, &request);
  if (status == NATS_TIMEOUT || status == NATS_NOT_FOUND) return TT_OK;
  // The end of the piece before is sometimes said late, and taken for that of this one.
  if (is_about_size(status)) {
    if (of->limited++ < MOST_LIMITED) return TT_OK;
    of->limited = 0;
    return fetch_longest(of, TRANSFER_PATIENCE, error);
  }
  of->limited = 0;
  return status == NATS_OK ? gather_all(of, &came, error)
                           : tt_nats_fail(status, "taking from the stream", error);
}

static bool has_room(const taker *of) {
  return of->next.messages.len < of->portion.messages &&
         of->next.bytes + PIECE_BYTES <= of->portion.bytes;
}

/** The same, piece by piece, as long as each is about whole: more is there, and comes without a wait. */
static tt_status fetch(taker *of, wanted what, int64_t patience, tt_error *error) {
  const int64_t end = tt_monotonic_us() + patience;
  size_t before;
  do {
    before = of->next.bytes;
    TT_TRY(fetch_piece(of, what, end - tt_monotonic_us(), error));
  } while (has_room(of) && of->next.bytes - before > PIECE_BYTES / 2);
  return TT_OK;
}

/* --- ahead --- */

static void *run_ahead(void *context) {
  taker *of = context;
  pthread_mutex_lock(&of->turn);
  for (;;) {
    while (!of->fetching && !of->ending) pthread_cond_wait(&of->changed, &of->turn);
    if (of->ending) break;
    pthread_mutex_unlock(&of->turn);
    tt_status status = fetch(of, ANY, AHEAD_PATIENCE, &of->error);
    pthread_mutex_lock(&of->turn);
    of->fetched = status;
    of->fetching = false;
    pthread_cond_broadcast(&of->changed);
  }
  pthread_mutex_unlock(&of->turn);
  return NULL;
}

static void fetch_ahead(taker *of) {
  pthread_mutex_lock(&of->turn);
  of->fetching = true;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->turn);
}

/** What waited for its turn until the server gave it to others is let go: it comes again, and says that it does. What waited for long gets
 *  all the time of a batch. */
static void look_at_age(taker *of) {
  const int64_t age = tt_monotonic_us() - of->next.begun;
  if (!of->next.messages.len || age < WAITS_LONG) return;
  if (age * 1000 >= tt_nats_hand_back) {
    drop_next(of);
    return;
  }
  for (uint32_t i = 0; i < of->next.messages.len; i++)
    natsMsg_InProgress(message_of(&of->next, i), NULL);
}

/** Adds what came since the thread took the first ones: many small batches cost a store more than few large ones. */
static tt_status add_rest(taker *of, tt_error *error) {
  if (is_large(of)) return TT_OK;
  taker_look(&of->base);
  return of->base.state.waiting ? fetch(of, ANY, TRANSFER_PATIENCE, error) : TT_OK;
}

/** Waits for the first ones, and asks again and again: since when the server waits for what it gave is known by when that was asked for.
 *  A request may also be answered by what was said late to the one before: that there is nothing. */
static tt_status wait_first(taker *of, int64_t patience, tt_error *error) {
  const int64_t end = tt_monotonic_us() + patience, longest = tt_nats_hand_back / 1000 / 10;
  int64_t rest = patience;
  do {
    TT_TRY(fetch(of, ANY, rest < longest ? rest : longest, error));
    rest = end - tt_monotonic_us();
  } while (!of->next.messages.len && rest > 0);
  return TT_OK;
}

/** Waits for more where the last batch was given not long ago. */
static tt_status wait_full(taker *of, tt_error *error) {
  const int64_t rest = of->given + of->portion.linger - tt_monotonic_us();
  if (rest <= 0 || !of->next.messages.len || is_large(of)) return TT_OK;
  return fetch(of, FULL, rest, error);
}

/** What was set before the stream's first message, as a batch of its own; TT_AGAIN: nothing was. */
static tt_status fill_with_settings(taker *of, tt_error *error) {
  of->is_new = false;
  TT_TRY(tt_nats_names_gather(of->link, &of->gather, error));
  const tt_store_batch *batch = of->gather.batch;
  return batch->devices.len || batch->attributes.len || batch->handlings.len ? TT_OK : TT_AGAIN;
}

/** Makes the next batch as large as it can be now; TT_AGAIN: it has nothing. */
static tt_status fill_next(taker *of, int64_t patience, tt_error *error) {
  const hand *next = &of->next;
  settle(of);
  if (of->is_new) {
    const tt_status status = fill_with_settings(of, error);
    if (status != TT_AGAIN) return status;
  }
  if (of->fetched != TT_OK) return tt_fail(error, of->fetched, "%s", of->error.text);
  look_at_age(of);
  TT_TRY(next->messages.len ? add_rest(of, error) : wait_first(of, patience, error));
  TT_TRY(wait_full(of, error));
  look_at_age(of);  // of what came late, too
  if (next->messages.len) return TT_OK;
  if (tt_monotonic_us() >= of->next_look) TT_TRY(look(of, error));
  return TT_AGAIN;
}

static tt_status taker_take(tt_store_log *base, int64_t patience, const tt_store_batch **batch,
                            tt_error *error) {
  taker *of = (taker *)base;
  TT_TRY(need_link(of, error));
  hand_back(of);
  tt_status status = fill_next(of, patience, error);
  if (status != TT_OK && status != TT_AGAIN) disconnect(of);
  TT_TRY(status);
  const hand empty = of->now;
  of->now = of->next;
  of->next = empty;
  tt_store_batch *spare = of->batch;
  of->batch = of->gather.batch;
  of->batch->log = of->identity;
  of->gather.batch = spare;
  begin_next(of);
  note_taken(of);
  fetch_ahead(of);
  of->given = tt_monotonic_us();
  *batch = of->batch;
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

/** Removes what every consumer has done, and that is older than a day: by the clock of the server, as far as what came last tells it, since
 *  ours may be ahead. */
static void purge(taker *of) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  jsCtx *js = tt_nats_link_js(of->link);
  const char *name = tt_nats_link_name(of->link);
  int64_t before = tt_wall_us() - KEPT;
  uint64_t last = find_floor(of), first;
  int64_t time;
  if (!last || js_GetStreamInfo(&info, js, name, NULL, &code) != NATS_OK) return;
  first = info->State.FirstSeq;
  if (info->State.LastTime / 1000 - KEPT < before) before = info->State.LastTime / 1000 - KEPT;
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
  for (uint32_t i = 0; i < of->now.messages.len && status == NATS_OK; i++)
    status = natsMsg_Ack(message_of(&of->now, i), NULL);
  hand_back(of);
  if (status != NATS_OK) return tt_nats_fail(status, "saying what is stored", error);
  tend(of);
  return TT_OK;
}

/* --- beginning and end --- */

static void end_ahead(taker *of) {
  if (!of->has_ahead) return;
  settle(of);
  pthread_mutex_lock(&of->turn);
  of->ending = true;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->turn);
  pthread_join(of->ahead, NULL);
}

static void taker_close(tt_store_log *base) {
  taker *of = (taker *)base;
  end_ahead(of);
  give_up(of);
  if (of->gather.batch) disconnect(of);
  tt_nats_gather_end(&of->gather);
  tt_store_batch_free(of->batch);
  tt_list_free(&of->now.messages);
  tt_list_free(&of->next.messages);
  pthread_mutex_destroy(&of->mutex);
  pthread_mutex_destroy(&of->turn);
  pthread_cond_destroy(&of->changed);
  free(of->url);
  free(of->name);
  free(of);
}

static void destroy_message(void *item) { natsMsg_Destroy(*(natsMsg **)item); }

static tt_status open_all(taker *of, tt_error *error) {
  bool made = of->url && of->name && of->batch && tt_nats_gather_begin(&of->gather);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory");
  TT_TRY(need_link(of, error));
  begin_next(of);
  of->has_ahead = !pthread_create(&of->ahead, NULL, run_ahead, of);
  return of->has_ahead ? TT_OK : tt_fail(error, TT_FAILED, "nats: can't start a thread");
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
  pthread_mutex_init(&of->turn, NULL);
  pthread_cond_init(&of->changed, NULL);
  of->now.messages = of->next.messages = TT_LIST(natsMsg *, destroy_message);
  of->batch = tt_store_batch_new();
  of->url = strdup(options->url);
  of->name = strdup(options->name);
  of->replay = options->replay;
  of->portion = options->portion;
  if (!of->portion.messages) of->portion.messages = USUAL_MESSAGES;
  if (!of->portion.bytes) of->portion.bytes = USUAL_BYTES;
  tt_status status = open_all(of, error);
  if (status != TT_OK) {
    taker_close(&of->base);
    return status;
  }
  *out = &of->base;
  return TT_OK;
}
