/* mount.c: checks the keys of where a sensor sits. */
#include "robot/mount.h"

tt_status tt_mount_check(tt_mount *mount, const char *where, tt_error *error) {
  static const char *const keys[] = {"x", "y", "z"};
  const char *const texts[] = {mount->x, mount->y, mount->z};
  for (int i = 0; i < 3; i++)
    TT_TRY(tt_quantity_check(texts[i], keys[i], where, TT_LENGTH, -1e3, 1e3, 0, &mount->point[i],
                             error));
  return TT_OK;
}
