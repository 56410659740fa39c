/* device_time.c: the choice of a message's boot epoch. */
#include "telemetry/device_time.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SECOND 1000000
/** Offsets of an epoch are recorded rounded outward to this, so that the store is rarely told. */
#define RANGE_STEP 50000
/** Offsets further than this from an epoch's first begin a new epoch, so that device time + anchor stays
 *  near the normalized time. */
#define MAX_DEPARTURE (3600LL * SECOND)
/** A clock has gone on with ours when it did so for this long, as exactly as delays on a network allow. */
#define STEADY_SPAN SECOND
#define STEADY_WITHIN (SECOND / 4)
/** What is sent again over another connection waited longer than this for its answer. */
#define NEWS_WITHIN (SECOND / 2)
/** …and where it may be a backlog instead, which is sent hardly faster than it was made: when for so long none was less late than
 *  the first one. Where drift does not explain it, that takes messages of so many times, too, as one may wait for its answer, and
 *  a tenth of the time it is late, five minutes at most: the longer a backlog is sent, the more often some of it are slow one behind
 *  the other. */
#define BACKLOG_SPAN (20LL * SECOND)
#define BACKLOG_COUNT 4
#define BACKLOG_SHARE 10
#define BACKLOG_MOST (300LL * SECOND)
/** So many in a row may be held up by so much, however rare they are. */
#define HELD_UP_COUNT 3
#define HELD_UP_MOST (4LL * SECOND)
/** µs after which a device that says the time of its first message again has begun anew: until then it may send several of one time. */
#define SAME_TIME_FOR (5LL * SECOND)
/** Meanwhile some may be held up by so much more. */
#define HELD_UP SECOND
/** A clock was heard in time when it went on for STEADY_SPAN and so many messages: of a backlog, a few may seem to be in time. */
#define SETTLED_COUNT 16
/** An epoch that another collector began is known here within this time. */
#define TOLD_WITHIN (60LL * SECOND)
/** 2000-01-01: a clock that was never set counts from its start, or from 1970. */
#define CLOCK_IS_SET (946684800LL * SECOND)

static int64_t floor_to(int64_t value, int64_t step) {
  int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

/* --- the kept epochs --- */

/** Makes room at an index, which is one behind the last at most; the oldest one goes where there are as many as are kept. */
static tt_boot *insert_boot(tt_device_time *time, int index) {
  memmove(time->boots + index + 1, time->boots + index,
          (size_t)(TT_BOOTS_KEPT - 1 - index) * sizeof *time->boots);
  if (time->boot_count < TT_BOOTS_KEPT) time->boot_count++;
  time->boots[index] = (tt_boot){0};
  return &time->boots[index];
}

static tt_boot *boot_with_key(tt_device_time *time, int64_t key) {
  for (int i = 0; i < time->boot_count; i++) {
    if (time->boots[i].stored.key == key) return &time->boots[i];
  }
  return NULL;
}

/** An identity that no other epoch has, whoever else is drawing one. Greater than the numbers that older stores have. */
static int64_t draw_key(void) {
  uint64_t key = 0;
  while (getrandom(&key, sizeof key, 0) != sizeof key) continue;
  return (int64_t)(key >> 2 | 1ULL << 61);
}

static tt_boot *begin(tt_device_time *time, const char *label, int64_t device, int64_t offset) {
  tt_boot *boot = insert_boot(time, 0);
  boot->stored = (tt_store_epoch){.number = time->next_epoch++,
                                  .key = draw_key(),
                                  .anchor = offset,
                                  .offset_low = floor_to(offset, RANGE_STEP)};
  boot->stored.offset_high = boot->stored.offset_low + RANGE_STEP;
  memccpy(boot->stored.boot, label, 0, sizeof boot->stored.boot - 1);
  boot->newest = device;
  tt_device_clock_start(&boot->clock, device, device + offset);
  return boot;
}

tt_boot *tt_device_time_begin(tt_device_time *time, int64_t device, int64_t offset) {
  return begin(time, "", device, offset);
}

void tt_device_time_tell(tt_device_time *time, tt_boot *boot) {
  boot->told = true;
  boot->told_at = ++time->tellings;
}

bool tt_device_time_is_due(const tt_device_time *time, const tt_boot *boot) {
  return !boot->told || time->tellings - boot->told_at >= TT_BOOTS_TOLD;
}

static int64_t latest_moment(const tt_boot *boot) {
  return boot->newest + tt_device_clock_offset(&boot->clock, boot->newest);
}

void tt_device_time_restore(tt_device_time *time, const tt_store_epoch *epoch, int64_t newest,
                            int64_t offset) {
  if (boot_with_key(time, epoch->key)) return;
  int number = epoch->number;
  for (int i = 0; i < time->boot_count; i++) {
    if (time->boots[i].stored.number == number) number = time->next_epoch;
  }
  if (number >= time->next_epoch) time->next_epoch = number + 1;
  bool latest = !time->boot_count || newest + offset >= latest_moment(&time->boots[0]);
  tt_boot *boot = insert_boot(time, latest ? 0 : 1);
  boot->stored = *epoch;
  boot->stored.number = number;
  boot->settled = true;
  boot->newest = newest;
  tt_device_clock_start(&boot->clock, newest, newest + offset);
}

void tt_device_time_learn(tt_device_time *time, const tt_store_boot *boot) {
  if (boot->has_sample) {
    tt_device_time_restore(time, &boot->epoch, boot->device_time, boot->time - boot->device_time);
  } else if (boot->epoch.number >= time->next_epoch) {
    time->next_epoch = boot->epoch.number + 1;
  }
}

void tt_device_time_learn_all(tt_device_time *time, const tt_store_boot *boots, uint32_t count,
                              const int64_t *found) {
  const tt_store_boot *sought = NULL;
  uint32_t others = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (found && boots[i].epoch.key == *found)
      sought = &boots[i];
    else
      others += boots[i].has_sample;
  }
  // No more than are kept: each would push out one that is wanted, and what is known of its clock.
  const uint32_t room = TT_BOOTS_KEPT - (sought ? 1 : 0);
  for (uint32_t i = 0; i < count; i++) {
    if (&boots[i] == sought || (boots[i].has_sample && others-- > room)) continue;
    tt_device_time_learn(time, &boots[i]);
  }
  if (sought) tt_device_time_learn(time, sought);
}

/** Makes a kept epoch the current one. */
static tt_boot *make_current(tt_device_time *time, tt_boot *boot) {
  if (boot == time->boots) return boot;
  tt_boot chosen = *boot;
  memmove(time->boots + 1, time->boots, (size_t)(boot - time->boots) * sizeof *boot);
  time->boots[0] = chosen;
  return &time->boots[0];
}

/* --- messages heard lately --- */

static void remember(tt_device_time *time, const struct tt_seen *seen) {
  if (!time->seen_count || seen->time > time->seen_latest) time->seen_latest = seen->time;
  time->seen[time->seen_next] = *seen;
  time->seen_next = (time->seen_next + 1) % TT_SEEN_KEPT;
  if (time->seen_count < TT_SEEN_KEPT) time->seen_count++;
}

void tt_device_time_restore_seen(tt_device_time *time, int64_t key, int64_t last_sample,
                                 uint64_t content) {
  remember(time, &(struct tt_seen){last_sample, content, key, true});
}

/** The kept epoch in which this very message was heard before, or NULL. */
static tt_boot *heard_before(tt_device_time *time, const tt_timed_message *message) {
  uint64_t content = 0;
  bool asked = false;
  if (message->last_sample > time->seen_latest) return NULL;  // as nearly all are
  for (int i = 0; i < time->seen_count; i++) {
    const struct tt_seen *seen = &time->seen[i];
    if (seen->time != message->last_sample) continue;
    if (seen->spooled && !asked) content = message->content(message->context);
    asked = asked || seen->spooled;
    if (seen->hash != (seen->spooled ? content : message->hash)) continue;
    tt_boot *boot = boot_with_key(time, seen->key);
    if (boot && !strcmp(boot->stored.boot, message->boot)) return boot;
  }
  return NULL;
}

/* --- the choice --- */

/** How late the message would be, were it of this epoch. */
static int64_t delay(const tt_boot *boot, const tt_timed_message *message) {
  return message->received - message->transmitted -
         tt_device_clock_offset(&boot->clock, message->transmitted);
}

/** What the clock may have drifted away since it was last heard of. */
static int64_t slack(const tt_boot *boot, const tt_timed_message *message) {
  int64_t silent = message->received / SECOND - tt_device_clock_heard(&boot->clock);
  return silent > TT_CLOCK_WINDOW ? (int64_t)((double)silent * SECOND * TT_CLOCK_MAX_DRIFT) : 0;
}

static bool fits(const tt_boot *boot, const tt_timed_message *message, int64_t late) {
  int64_t excess = delay(boot, message), allowed = late + slack(boot, message);
  return excess >= -allowed && excess <= allowed;
}

static bool departs(const tt_boot *boot, int64_t offset) {
  return llabs(offset - boot->stored.anchor) > MAX_DEPARTURE;
}

/** Whether a message that is ahead of an epoch's clock may be of it all the same: that is known only by messages that were
 *  held up, as the first ones of a device are that had no network. */
static bool was_held_up(const tt_boot *boot, int64_t time, int64_t received) {
  return !boot->settled && time > boot->newest && !departs(boot, received - time);
}

static bool is_of(const tt_boot *boot, const tt_timed_message *message) {
  return !strcmp(boot->stored.boot, message->boot);
}

/** The latest epoch that the message may be of, as far as its `boot` tells. */
static tt_boot *current_of(tt_device_time *time, const tt_timed_message *message) {
  for (int i = 0; i < time->boot_count; i++) {
    if (is_of(&time->boots[i], message)) return &time->boots[i];
  }
  return NULL;
}

/** What the store says of a message that does not go on in order. */
static tt_boot *ask(tt_device_time *time, const tt_timed_message *message) {
  int64_t key;
  return message->find && message->find(message->context, &key) ? boot_with_key(time, key) : NULL;
}

/** Whether a device may have begun anew that says the only time of its epoch again, as one does that sleeps in between and has no
 *  clock. Of a clock that went on, several messages may be of one time, and the last of them held up, or sent again. So may be the first
 *  one of an epoch that began elsewhere; the next ones are compared with that. */
static bool may_begin_anew(tt_boot *boot, const tt_timed_message *message) {
  if (boot->went_on || *boot->stored.boot) return false;
  if (!boot->begun) boot->begun = message->received;
  return message->received - boot->begun >= SAME_TIME_FOR;
}

/** The epoch of a message that does not fit the current one, as far as its time tells; NULL: the clock must have jumped. */
static tt_boot *guess(tt_device_time *time, const tt_timed_message *message, int64_t late,
                      bool backwards) {
  tt_boot *current = current_of(time, message);
  if (!current) return NULL;
  for (int i = 0; i < time->boot_count; i++) {
    tt_boot *boot = &time->boots[i];
    bool excluded = backwards && boot == current;
    if (!excluded && is_of(boot, message) && fits(boot, message, late)) return boot;
  }
  if (backwards) return NULL;
  if (delay(current, message) < 0)
    return was_held_up(current, message->transmitted, message->received) ? current : NULL;
  // Behind its time, but as new as anything: it waited for a connection. Else the clock went back.
  const int64_t after = message->transmitted - current->newest;
  return after > 0 || (!after && !may_begin_anew(current, message)) ? current : NULL;
}

/** The epoch of a message, or NULL when the clock must have jumped. */
static tt_boot *choose(tt_device_time *time, const tt_timed_message *message, int64_t late,
                       bool *again) {
  bool backwards = message->after_previous && message->transmitted < message->previous;
  tt_boot *current = current_of(time, message);
  bool in_time = current && fits(current, message, late) && !backwards;
  if (in_time && message->transmitted > current->newest) return current;
  tt_boot *known = heard_before(time, message);
  *again = known;
  if (in_time || known) return in_time ? current : known;
  if (message->after_previous && !backwards && current && delay(current, message) > 0) {
    // Its connection was held up, or goes on with what is sent again.
    tt_boot *previous = boot_with_key(time, message->previous_key);
    return previous && is_of(previous, message) ? previous : current;
  }
  known = ask(time, message);
  *again = known;
  return known ? known : guess(time, message, late, backwards);
}

/* --- messages that don't say when they were sent --- */

static bool claims_utc(const tt_timed_message *message, int64_t late) {
  return message->last_sample >= CLOCK_IS_SET && message->last_sample <= message->received + late;
}

/** Whether it is of an epoch in which times are UTC, and what it says is. */
static bool is_utc_of(const tt_boot *boot, const tt_timed_message *message, int64_t late) {
  return !boot->stored.anchor && claims_utc(message, late);
}

/** Whether the clock of an epoch can have said the message's times. Points of a clock that is right may be of any age; one that
 *  is not goes on, but within a request, all of which was sent at once. */
static bool can_be_of(const tt_boot *boot, const tt_timed_message *message, int64_t late) {
  int64_t time = message->last_sample;
  int64_t ahead = time + tt_device_clock_offset(&boot->clock, time) - message->received;
  if (!is_of(boot, message)) return false;
  if (!boot->stored.anchor) return claims_utc(message, late);
  if (ahead > late + slack(boot, message)) return false;
  bool same_request = message->after_previous && message->previous_key == boot->stored.key;
  return same_request || time > boot->newest - late;
}

static tt_boot *goes_on(tt_device_time *time, const tt_timed_message *message, int64_t late) {
  for (int i = 0; i < time->boot_count; i++) {
    if (can_be_of(&time->boots[i], message, late)) return &time->boots[i];
  }
  return NULL;
}

/** As choose(), and tells when the message was sent. */
static tt_boot *choose_untold(tt_device_time *time, tt_timed_message *message, int64_t late,
                              bool *again) {
  bool pointless = message->last_sample == TT_MESSAGE_NO_TIME;
  if (pointless) message->last_sample = message->received;
  tt_boot *known = pointless ? NULL : heard_before(time, message);
  tt_boot *chosen = goes_on(time, message, late);
  if (!chosen && !known && !pointless) known = ask(time, message);
  *again = known;
  if (!chosen) chosen = known ? known : goes_on(time, message, late);
  tt_boot *current = chosen ? NULL : current_of(time, message);
  if (current && current->stored.anchor &&
      was_held_up(current, message->last_sample, message->received))
    chosen = current;
  bool utc = chosen ? !chosen->stored.anchor : claims_utc(message, late);
  message->transmitted =
      utc && message->last_sample < message->received ? message->received : message->last_sample;
  return chosen;
}

/** The first epoch of a clock, as the message tells it. */
static tt_boot *begin_with(tt_device_time *time, const tt_timed_message *message, bool untold,
                           int64_t late) {
  const bool utc = untold && claims_utc(message, late);
  tt_boot *begun = begin(time, message->boot, message->transmitted,
                         utc ? 0 : message->received - message->transmitted);
  begun->begun = message->received;
  return begun;
}

/** Whether another collector may have begun an epoch for what is of this one, too, which is not known yet. Without `boot` that is
 *  not asked for long: what a device sends as it did after an earlier start would be taken for a repeat. */
static bool may_be_begun_elsewhere(const tt_boot *boot, const tt_timed_message *message) {
  return *boot->stored.boot && boot->begun && message->received - boot->begun < TOLD_WITHIN;
}

static bool widen(tt_store_epoch *epoch, int64_t offset) {
  bool widened = false;
  if (offset < epoch->offset_low) {
    epoch->offset_low = floor_to(offset, RANGE_STEP);
    widened = true;
  }
  if (offset > epoch->offset_high) {
    epoch->offset_high = floor_to(offset, RANGE_STEP) + RANGE_STEP;
    widened = true;
  }
  return widened;
}

/** How messages may differ from the one that they are compared with where the clock goes on with ours. */
struct bounds {
  int64_t less, more; /**< late */
  int64_t within;     /**< later ones don't count, but are not against it */
  int64_t patience;   /**< for so long all may be later than that, or in disorder */
  bool same_time;     /**< several may be sent at one time */
};
static const struct bounds over_connections = {0, HELD_UP, STEADY_WITHIN, BACKLOG_SPAN, true};
static const struct bounds on_connection = {STEADY_WITHIN, HELD_UP, NEWS_WITHIN, 0, false};

static int64_t drift_since(int64_t then, int64_t transmitted) {
  return (int64_t)((double)(transmitted - then) * TT_CLOCK_MAX_DRIFT);
}

/** What may have drifted since the first message would be enough for lateness and for a jump, after hours; so what comes is
 *  compared with the least late one of the last minutes. */
static void compare_with_a_later_one(struct tt_pace *pace, struct tt_pace_point now) {
  const int64_t window = TT_CLOCK_WINDOW * SECOND, age = now.transmitted - pace->least.transmitted;
  if (now.offset <= pace->least.offset || age > 2 * window) pace->least = now;
  if (now.transmitted - pace->window <= window) return;
  pace->point = pace->least;
  pace->least = now;
  pace->window = now.transmitted;
}

/** For how long the device's clock has gone on with ours, message by message, this one included. One that was held up says nothing
 *  of that, nor of the others, unless there are no others. */
static int64_t go_on(struct tt_pace *pace, const tt_timed_message *message,
                     const struct bounds *bounds) {
  const struct tt_pace_point now = {message->transmitted, message->received - message->transmitted};
  const int64_t later = now.offset - pace->point.offset, after = now.transmitted - pace->last;
  const int64_t drift = drift_since(pace->point.transmitted, now.transmitted);
  const bool in_order = after > 0 || (bounds->same_time && !after);
  const bool held_up = !in_order || later > bounds->more + drift;
  pace->held_up = held_up ? pace->held_up + 1 : 0;
  const bool few = pace->held_up <= HELD_UP_COUNT && later <= HELD_UP_MOST + drift;
  const bool waits =
      bounds->patience && (few || message->received - pace->heard < bounds->patience);
  pace->last = now.transmitted;
  if (!pace->begun || later < -bounds->less - drift || (held_up && !waits)) {
    *pace = (struct tt_pace){.begun = true,
                             .count = 1,
                             .since = now.transmitted,
                             .last = now.transmitted,
                             .heard = message->received,
                             .point = now,
                             .least = now,
                             .window = now.transmitted};
    return 0;
  }
  if (held_up) return 0;
  pace->count += after > 0;
  pace->heard = message->received;
  compare_with_a_later_one(pace, now);
  return later <= bounds->within + drift ? now.transmitted - pace->since : 0;
}

/** Whether a clock that has gone on with ours for so long, but is behind, drifted or was set back: else it would be a backlog. */
static bool is_set_back(const tt_device_time *time, const tt_boot *boot,
                        const tt_timed_message *message, int64_t late, int64_t gone_on) {
  if (gone_on < BACKLOG_SPAN || fits(boot, message, late)) return gone_on >= BACKLOG_SPAN;
  const int64_t share = delay(boot, message) / BACKLOG_SHARE;
  return time->pace.count >= BACKLOG_COUNT &&
         gone_on >= (share < BACKLOG_MOST ? share : BACKLOG_MOST);
}

/** Whether messages in time settle where the clock is, so that what is ahead of it is a jump. */
static bool is_settling(const tt_device_time *time, int64_t gone_on) {
  return time->pace.count >= SETTLED_COUNT && gone_on >= STEADY_SPAN;
}

/** Whether messages of the present connection did so for long enough: the first ones may be sent again, as they were over another.
 *  What is sent again goes back, or comes more quickly than it was made. */
static bool is_connection_steady(struct tt_pace *pace, const tt_timed_message *message) {
  if (message->connected) pace->begun = false;
  return go_on(pace, message, &on_connection) >= STEADY_SPAN;
}

/** Takes what the message says about the clock, if anything. One that is late was held up, and what is known of the clock may be older
 *  than its window, which would then be filled with lateness. But where the clock goes on with ours, and what comes is not less and
 *  less late, as a backlog is, it was set back, or drifted while nothing was heard; as long as that may be lateness after all,
 *  what is ahead of it corrects it. */
static void follow_clock(tt_boot *boot, const tt_timed_message *message, bool steady, bool late) {
  tt_device_clock_add(&boot->clock, message->transmitted, message->received);
  boot->settled = !late && (boot->settled || steady);
}

/* --- our own clock --- */

void tt_device_time_step(tt_device_time *time, int64_t step) { time->step += step; }

static void shift_pace(struct tt_pace *pace, int64_t step) {
  pace->point.offset += step;
  pace->least.offset += step;
  pace->heard += step;
}

/** With the first message behind a step it is seen whether the device's clock went on meanwhile: where a machine stood still as a whole,
 *  ours was set to what a device said all the time. Times of UTC don't go by ours. */
static void take_step(tt_device_time *time, const tt_timed_message *message, int64_t late) {
  const int64_t step = time->step;
  const tt_boot *current = current_of(time, message);
  time->step = 0;
  if (message->transmitted != TT_MESSAGE_NO_TIME && current && fits(current, message, late)) return;
  for (int i = 0; i < time->boot_count; i++) {
    tt_boot *boot = &time->boots[i];
    if (boot->begun) boot->begun += step;
    if (boot->stored.anchor) tt_device_clock_shift(&boot->clock, step);
  }
  shift_pace(&time->pace, step);
  shift_pace(&time->connection_pace, step);
}

tt_place tt_device_time_place(tt_device_time *time, const tt_timed_message *sent, int64_t late) {
  tt_timed_message message = *sent;
  const bool untold = sent->transmitted == TT_MESSAGE_NO_TIME, first = !time->boot_count;
  tt_place place = {.placement = TT_PLACED};
  if (time->step) take_step(time, sent, late);
  tt_boot *chosen = untold ? choose_untold(time, &message, late, &place.again)
                           : choose(time, &message, late, &place.again);
  const int64_t gone_on = go_on(&time->pace, &message, &over_connections);
  // Where all is UTC, what is sent again goes on with our clock, too.
  place.unsure =
      !is_connection_steady(&time->connection_pace, &message) || (untold && time->next_epoch > 1);
  const bool behind = chosen && delay(chosen, &message) > late;
  // What is UTC says nothing of a clock, not by being a little ahead of ours either: it would move all that is of another time.
  const bool utc =
      untold && (chosen ? is_utc_of(chosen, &message, late) : claims_utc(&message, late));
  const bool tells = chosen && !utc && !place.again &&
                     (!behind || is_set_back(time, chosen, &message, late, gone_on));
  if (chosen && !utc &&
      (departs(chosen, tt_device_clock_offset(&chosen->clock, message.transmitted)) ||
       (tells && departs(chosen, message.received - message.transmitted))))
    chosen = NULL;
  if (!chosen) {
    place.placement = first ? TT_PLACED_FIRST : TT_PLACED_JUMP;
    chosen = begin_with(time, &message, untold, late);
    place.unsure = true;  // another collector may have begun one for it
  } else {
    if (message.transmitted > chosen->newest) {
      chosen = make_current(time, chosen);
      chosen->newest = message.transmitted;
      chosen->went_on = true;
    }
    if (tells) follow_clock(chosen, &message, is_settling(time, gone_on), behind);
  }
  place.unsure = place.unsure || may_be_begun_elsewhere(chosen, &message);
  place.boot = chosen;
  place.transmitted = message.transmitted;
  place.offset = utc ? 0 : tt_device_clock_offset(&chosen->clock, message.transmitted);
  place.tell = widen(&chosen->stored, place.offset) || tt_device_time_is_due(time, chosen);
  if (place.tell) tt_device_time_tell(time, chosen);
  struct tt_seen seen = {sent->last_sample, message.hash, chosen->stored.key, false};
  if (sent->last_sample != TT_MESSAGE_NO_TIME) remember(time, &seen);
  return place;
}
