/* broker.h: connections to NATS: addresses, TLS and credentials, what went wrong in words; identifiers as parts of subjects. */
#ifndef TT_BROKER_BROKER_H
#define TT_BROKER_BROKER_H

#include "base/status.h"

#include <nats/nats.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/** Of one URL. */
#define TT_NATS_MOST_SERVERS 16

/** What stands in a URL: nats://[USER:PASSWORD@]HOST[:PORT][,HOST…][/NAME][?replicas=N&creds=FILE&ca=FILE&cert=FILE&key=FILE]. */
typedef struct tt_nats_address {
  char *servers;                    /**< "HOST:PORT,…": for people, without a password */
  char *each[TT_NATS_MOST_SERVERS]; /**< "nats://HOST:PORT" */
  int count;                        /**< of these, 1 at least */
  char *user, *password;            /**< %XX read; NULL: none */
  char *name; /**< what subjects and streams are called by; "tether" where it says none */
  char *creds, *ca, *cert, *key; /**< NULL: none */
  int replicas;                  /**< 1, 3 or 5 */
} tt_nats_address;

/** TT_INVALID: what is wrong with it. To be cleared, also then. */
tt_status tt_nats_address_parse(const char *url, tt_nats_address *address, tt_error *error);
void tt_nats_address_clear(tt_nats_address *address);
/** The same of who only asks whether it can be read. */
tt_status tt_nats_address_check(const char *url, tt_error *error);

/** Connects to one of the servers; what is lost is not connected again: whoever uses it opens another, and knows of all that was on
 *  its way. What it publishes itself it does not hear. TT_INVALID: none of them ever lets us in like that, and why; TT_FAILED: none is
 *  there. Takes some 2 s a server at most. To be destroyed by natsConnection_Destroy(). */
tt_status tt_nats_connect(const tt_nats_address *address, natsConnection **connection,
                          tt_error *error);
/** A subscription whose calls come in a thread of the library's. Zero at first. */
typedef struct tt_nats_ear {
  natsSubscription *subscription; /**< NULL: none */
  sem_t over;                     /**< its last call is */
} tt_nats_ear;

/** Takes what subscribing gave into `ear->subscription`, and its status, which is returned. Of what waits for calls `most` bytes are kept,
 *  and later ones lost. */
natsStatus tt_nats_ear_open(tt_nats_ear *ear, natsStatus subscribed, int most);
/** Ends it: returns when no call is under way, nor will be. */
void tt_nats_ear_close(tt_nats_ear *ear);

/** What a status of the library means to us, in words: TT_INVALID where only another configuration helps. */
tt_status tt_nats_fail(natsStatus status, const char *what, tt_error *error);
/** The same of a request that JetStream did not answer: it may not be there, or not for us. */
tt_status tt_nats_fail_request(natsConnection *connection, natsStatus status, const char *what,
                               tt_error *error);

/** Whether a request of JetStream was answered by that what it was about, or the stream of that, is not there. */
bool tt_nats_is_missing(natsStatus status, jsErrCode code);

/** Appends a token of a subject: bytes but letters, digits, - and _ as %XX; of a key, where % may not stand, with = in its place.
 *  False: there was no room. */
bool tt_nats_print_token(char *text, size_t size, char escape, const char *identifier);
/** The identifier of a token with %XX in it, of `length` bytes; others stand for themselves. False: it is none, or too long. Any
 *  bytes may be given. */
bool tt_nats_read_token(const char *token, size_t length, char *identifier, size_t size);

#endif
