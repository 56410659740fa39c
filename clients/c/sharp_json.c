/* A controller for the sharp-json wire: drives forward, turns, raises the lift to half its travel and holds it there.
 *
 *   cc -o sharp_json clients/c/sharp_json.c && tether run sharp & ./sharp_json [vehicle port] [our port] [states]
 *
 * Hears one state every 17 ms and answers each with one command, so that neither side ever falls behind.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct sockaddr_in loopback(const char *port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* Numbers stand in fixed columns of four digits with leading zeros, so base 10 must be asked for. */
static int number(const char *text, int column) {
  char digits[5] = {0};
  memcpy(digits, text + column, 4);
  return (int)strtol(digits, NULL, 10);
}

static int clamp(int value) { return value > 512 ? 512 : value < -512 ? -512 : value; }

int main(int argc, char **argv) {
  struct sockaddr_in vehicle = loopback(argc > 1 ? argv[1] : "8000");
  struct sockaddr_in ours = loopback(argc > 2 ? argv[2] : "6000");
  int states = argc > 3 ? atoi(argv[3]) : 1000, lift = 0;
  int wire = socket(AF_INET, SOCK_DGRAM, 0);
  struct timeval patience = {.tv_sec = 5};
  setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (bind(wire, (struct sockaddr *)&ours, sizeof ours) != 0) {
    perror("bind");
    return 1;
  }
  for (int n = 0; n <= states; n++) {
    char state[256], command[128];
    if (recv(wire, state, sizeof state, 0) != 80) {
      fprintf(stderr, "no state\n");
      return 1;
    }
    lift = number(state, 74);
    int speed = n == states ? 0 : 150;
    int size = snprintf(command, sizeof command,
                        "{ 'leftDriveMotorSpeed': %04d, 'rightDriveMotorSpeed': %04d, "
                        "'elevatorMotorSpeed': %04d, 'back': 0, 'guide': 0, 'start': %d }",
                        speed, n % 200 >= 150 ? -speed : speed, clamp(3 * (512 - lift)), n == 0);
    sendto(wire, command, (size_t)size, 0, (struct sockaddr *)&vehicle, sizeof vehicle);
    if (n % 100 == 0) {
      printf("encoders %4d %4d  lift %4d\n", number(state, 22), number(state, 49), lift);
    }
  }
  printf("done: lift %d\n", lift);
  close(wire);
  return 0;
}
