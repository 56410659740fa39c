import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;

/**
 * Drives the frc2011 robot over float-udp: holds the arm level and drives in a gentle arc.
 *
 * <p>usage: java FloatUdp.java [SIMULATOR_PORT [LISTEN_PORT [SECONDS]]] (default: 5801 5802 5, all on 127.0.0.1).
 * Byte table: docs/wires/float-udp.md. Java is big-endian by nature, the wire is not: see ByteOrder.
 */
public final class FloatUdp {
  private static final int SENSORS = 10;
  private static final int ACTUATORS = 6;

  public static void main(String[] args) throws Exception {
    int simulatorPort = args.length > 0 ? Integer.parseInt(args[0]) : 5801;
    int listenPort = args.length > 1 ? Integer.parseInt(args[1]) : 5802;
    double seconds = args.length > 2 ? Double.parseDouble(args[2]) : 5;
    InetAddress here = InetAddress.getByName("127.0.0.1");
    try (DatagramSocket link = new DatagramSocket(new InetSocketAddress(here, listenPort))) {
      DatagramPacket in = new DatagramPacket(new byte[2048], 2048);
      float[] sensor = new float[SENSORS];
      float start = Float.NaN;
      int messages = 0;
      do {
        in.setLength(2048);
        link.receive(in);
        if (in.getLength() != 4 * SENSORS) continue;
        ByteBuffer.wrap(in.getData()).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(sensor);
        if (messages++ == 0) start = sensor[0];
        byte[] bytes = actuators(messages, sensor);
        link.send(new DatagramPacket(bytes, bytes.length, here, simulatorPort));
        if (messages % 100 == 1) {
          System.out.printf(Locale.ROOT, "t %.2f s  wheels %.2f %.2f rad  arm %.2f rad%n",
              sensor[0], sensor[1], sensor[2], sensor[3]);
        }
      } while (messages == 0 || sensor[0] - start < seconds);
      System.out.printf(Locale.ROOT, "done: %d messages, wheels at %.2f %.2f rad%n", messages, sensor[1], sensor[2]);
    }
  }

  /** Timestamp (any number that grows), torques of left track, right track, arm, wrist in in·lbf, grip 0…4. */
  private static byte[] actuators(int stamp, float[] sensor) {
    float arm = clamp(-400 * sensor[3] - 80 * sensor[7] - 150, 400); // angles are positive down
    float left = clamp(20 * (4 - sensor[5]), 60); // towards 4 rad/s
    float right = clamp(20 * (5 - sensor[6]), 60);
    float wrist = clamp(-60 * sensor[4] - 10 * sensor[8], 60);
    byte[] bytes = new byte[4 * ACTUATORS];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
        .putFloat(stamp).putFloat(left).putFloat(right).putFloat(arm).putFloat(wrist).putFloat(0);
    return bytes;
  }

  private static float clamp(float value, float most) {
    return Math.max(-most, Math.min(most, value));
  }
}
