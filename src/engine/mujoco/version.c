#include "engine/mujoco/version.h"

#include <gnu/libc-version.h>
#include <mujoco/mujoco.h>

static const char *name_cpu(void) {
#if defined __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "x86_64+fma" : "x86_64";
#elif defined __aarch64__
  return "aarch64";
#else
  return "other";
#endif
}

tt_platform tt_platform_get(void) {
  return (tt_platform){mj_versionString(), gnu_get_libc_version(), name_cpu()};
}
