/* Turns the gripper's swivel for 1,000 steps, in this process: no server, no socket.
 *
 * build: cc -O2 library.c -o library $(pkg-config --cflags --libs tether). Reference: <tether/tether.h>.
 */
#include <stdio.h>
#include <tether/tether.h>

int main(void) {
  tether_error error;
  tether_scene *scene = NULL;
  tether_sim *sim = NULL;
  tether_handle velocity, angle;
  double wanted = 1, turned = 0;
  int failed = tether_scene_load("gripper", NULL, 0, &scene, &error) ||
               tether_sim_new(scene, &sim, &error) ||
               tether_command_find(sim, "swivel.velocity", "rad/s", &velocity, &error) ||
               tether_signal_find(sim, "swivel.position", "deg", &angle, &error) ||
               tether_sim_apply(sim, &velocity, &wanted, 1, &error) ||
               tether_sim_step(sim, 1000, &error) ||
               tether_sim_read(sim, &angle, &turned, 1, &error);
  if (failed)
    fprintf(stderr, "%s\n", error.text);
  else
    printf("after %.3f s: %.2f degrees\n", tether_sim_time(sim), turned);
  tether_sim_free(sim);
  tether_scene_free(scene);
  return failed;
}
