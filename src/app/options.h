/* options.h: the command line of commands that take a scene: each option is a setting of one of its keys. */
#ifndef TT_APP_OPTIONS_H
#define TT_APP_OPTIONS_H

#include "base/status.h"

#include <getopt.h>
#include <stdbool.h>

typedef struct tt_scene_options {
  const char *scene;     /**< SCENE, as given; NULL: that of `from` */
  const char **settings; /**< PATH=VALUE, in the order given */
  int setting_count;
  char **owned; /**< texts made here */
  int owned_count;
  const char *record; /**< file, which is a setting, too; NULL: none */
  bool no_web;
  bool plays_match;                    /**< a whole practice match, and no more */
  const char *from_state, *save_state; /**< files; NULL: none */
  const char *robot_config;            /**< file; NULL: none */
  const char *from;                    /**< LOG@TIME of a kept run that goes on; NULL: none */
  char unused[300];                    /**< its keys that mean nothing to us; "" */
} tt_scene_options;

/** The lines of --help for these options. */
extern const char tt_scene_options_help[];

/** Reads `argv` (argv[0] is the command's name): SCENE, --set, --pace, --speed, --duration, --record, --match,
 *  --no-web, --robot-config, --remote_control_port, with dashes too, `--opt value` and `--opt=value`. TT_USAGE when it is wrong. */
tt_status tt_scene_options_parse(int argc, char **argv, tt_scene_options *options, tt_error *error);
void tt_scene_options_free(tt_scene_options *options);

/** What getopt_long() made ':' or '?' of: a value is missing, or there is no such option; with the nearest of those `known`
 *  (the list it was given). `text` is the word of the command line. TT_USAGE. */
tt_status tt_option_refused(int option, const struct option *known, const char *text,
                            tt_error *error);

#endif
