/* batch.h: what is written at once: names, handling, boot epochs and samples, in lists.
 *
 * A batch is used by one thread at a time. Devices and attributes are known by small indices that the collector gives them.
 * Texts are copied; the batch frees them.
 */
#ifndef TT_STORE_BATCH_H
#define TT_STORE_BATCH_H

#include "store/list.h"

/** What is said of a name. */
typedef enum tt_name_state {
  TT_NAME_KNOWN,   /**< as it is in the store; there, if it was not */
  TT_NAME_USED,    /**< there, and not removed any more */
  TT_NAME_REMOVED, /**< nobody is shown it until it is used again; nothing is stored of it */
} tt_name_state;

/** A device or an attribute. */
typedef struct tt_store_name {
  int index;        /**< from 0, without gaps */
  char *identifier; /**< "ROBO1", "Output.drive.velocity" */
  char *name;       /**< for people; NULL: as before; "": none */
  tt_name_state state;
} tt_store_name;

/** That values of an attribute are stored of a device. */
typedef struct tt_store_pair {
  int32_t device, attribute;
} tt_store_pair;

/** As what values are kept. Numbers stand in databases, and stay. */
typedef enum tt_value_type {
  TT_VALUE_AUTO,
  TT_VALUE_NUMBER,
  TT_VALUE_TEXT,
  TT_VALUE_FLAG
} tt_value_type;
/** Where values go. Numbers stand in databases, and stay. */
typedef enum tt_value_mode {
  TT_MODE_BOTH,
  TT_MODE_STORE,
  TT_MODE_FORWARD,
  TT_MODE_IGNORE
} tt_value_mode;

/** How the values of attributes are handled. */
typedef struct tt_handling {
  char *pattern; /**< an identifier, or one with * and ? in it */
  bool removed;  /**< takes the pattern away */
  tt_value_type type;
  tt_value_mode mode;
  char *unit;   /**< of scaled values, or NULL */
  double scale; /**< kept value = sent value × scale + offset */
  double offset;
  /** s on the device's clock between kept values of a device; 0: all are kept */
  double min_interval;
  double retention; /**< s after which values are removed; 0: never */
} tt_handling;

/** Of what a device calls its start: 64 bytes and a 0, rounded up. */
#define TT_BOOT_SIZE 72

/** A boot epoch of a device. Times µs. */
typedef struct tt_store_epoch {
  int device,
      number; /**< what this process calls it; a store may have given the number to another one, and maps it */
  int64_t anchor; /**< first offset seen; the store keeps the first it was told */
  int64_t offset_low,
      offset_high; /**< normalized − device time of every sample lies between; only widened */
  int64_t key;     /**< its identity in every process and database, drawn when it began */
  char boot[TT_BOOT_SIZE]; /**< what the device calls its start; "": it says nothing */
} tt_store_epoch;

/** An epoch with its newest sample. */
typedef struct tt_store_boot {
  tt_store_epoch epoch;
  bool has_sample;
  int64_t device_time, time; /**< µs */
} tt_store_boot;

/** It goes on with the message of the sample before it in the batch. */
#define TT_SAMPLE_CONTINUES 1u
/** Its message may be one sent again that stands in another epoch: if all its values do, it is not stored. The same goes for what a
 *  log was overtaken with (tt_store_sample.after). */
#define TT_SAMPLE_UNSURE 2u

/** Values of one device at one moment, each of another attribute. Times µs. */
typedef struct tt_store_sample {
  int32_t device, epoch;
  int64_t device_time; /**< as the device said */
  int64_t time;        /**< UTC */
  uint32_t first, count;
  int64_t seq;    /**< of its message, counted from 1; 0: it had none */
  uint32_t flags; /**< TT_SAMPLE_… */
  /** the last so many values may be left out when their message is sent again, by a minimum interval */
  uint32_t thinned;
  /** of its message in the log from which it was taken, counted from 1; 0: it was taken from none */
  int64_t place;
  /** The place of the message of its device behind which it was put there, less than `place`. Where an unsure one that stands behind that
   *  was stored already, this one was overtaken by what its device may have sent again, and is unsure, too. */
  int64_t after;
} tt_store_sample;

#define TT_STORE_NUMBER UINT32_MAX

typedef struct tt_store_value {
  int32_t attribute;
  uint32_t text; /**< offset into the batch's text, or TT_STORE_NUMBER */
  double number; /**< finite */
} tt_store_value;

/** What is written in one transaction: definitions first, then samples. */
typedef struct tt_store_batch {
  tt_list devices;    /**< tt_store_name */
  tt_list attributes; /**< tt_store_name */
  tt_list handlings;  /**< tt_handling */
  tt_list epochs;     /**< tt_store_epoch */
  tt_list samples;    /**< tt_store_sample */
  tt_list values;     /**< tt_store_value */
  tt_list text;       /**< char: texts of values, each with its 0 */
  tt_list pairs;      /**< tt_store_pair: those that are new */
  int64_t log;        /**< the identity of the log in which samples have their places */
} tt_store_batch;
/** NULL: out of memory. */
tt_store_batch *tt_store_batch_new(void);
/** NULL-safe. */
void tt_store_batch_free(tt_store_batch *batch);
void tt_store_batch_clear(tt_store_batch *batch);
bool tt_store_batch_is_empty(const tt_store_batch *batch);
/** Whether memory ran out while it was filled, so that something is missing in it. */
bool tt_store_batch_has_failed(const tt_store_batch *batch);
/** Of all its items; the strings of names and of handlings are not counted. */
size_t tt_store_batch_bytes(const tt_store_batch *batch);
/** Makes room for one more epoch and so much else; adding it then can't fail. False: out of memory. */
bool tt_store_batch_reserve(tt_store_batch *batch, size_t samples, size_t values,
                            size_t text_bytes);
/** Adds copies, to devices or attributes (`name` may be NULL) or to handlings. False: out of memory, nothing was added. */
bool tt_store_add_name(tt_list *names, int index, const char *identifier, const char *name,
                       tt_name_state state);
bool tt_store_add_handling(tt_list *handlings, const tt_handling *handling);
/** Those that an attribute's values have, as told by its identifier: that of its own, or of the longest pattern. NULL: none is set. */
const tt_handling *tt_handling_of(const tt_list *handlings, const char *identifier);
/** An empty list of tt_handling. */
tt_list tt_handling_list(void);
/** Samples from `first` on that are one message. */
uint32_t tt_store_message_size(const tt_store_batch *batch, uint32_t first);
/** A value by which a message is known: of its samples `first`…, those before the thinned ones. Zero at first. */
typedef struct tt_store_firm {
  uint32_t at, within; /**< where it goes on */
  const tt_store_sample *sample;
  const tt_store_value *value;
} tt_store_firm;
/** The next one of `count` samples. False: there are no more. */
bool tt_store_next_firm(const tt_store_batch *batch, uint32_t first, uint32_t count,
                        tt_store_firm *firm);
/** What a message of `count` samples says, as a number; two that differ are hardly ever the same. */
uint64_t tt_store_content(const tt_store_batch *batch, uint32_t first, uint32_t count);
void tt_handling_clear(tt_handling *handling);
/** False: out of memory; there is nothing to be cleared. */
bool tt_handling_copy(tt_handling *target, const tt_handling *source);

#endif
