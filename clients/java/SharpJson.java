// A controller for the sharp-json wire: drives forward, turns, raises the lift to half its travel and holds it there.
//
//   tether run sharp &
//   java clients/java/SharpJson.java [vehicle host:port] [our host:port] [states]
//
// Hears one state every 17 ms and answers each with one command, so that neither side ever falls behind.
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public class SharpJson {
  static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  /** Numbers stand in fixed columns; with String.format this is what the original core sent. */
  static byte[] command(int left, int right, int elevator, int start) {
    return String.format("{ 'leftDriveMotorSpeed': %04d, 'rightDriveMotorSpeed': %04d, 'elevatorMotorSpeed': %04d, "
        + "'back': 0, 'guide': 0, 'start': %d }", left, right, elevator, start).getBytes(StandardCharsets.US_ASCII);
  }

  public static void main(String[] args) throws Exception {
    InetSocketAddress vehicle = address(args.length > 0 ? args[0] : "127.0.0.1:8000");
    InetSocketAddress ours = address(args.length > 1 ? args[1] : "127.0.0.1:6000");
    int states = args.length > 2 ? Integer.parseInt(args[2]) : 1000;
    int lift = 0;
    try (DatagramSocket wire = new DatagramSocket(ours)) {
      wire.setSoTimeout(5000);
      DatagramPacket state = new DatagramPacket(new byte[2048], 2048);
      for (int n = 0; n < states; n++) {
        wire.receive(state);
        String text = new String(state.getData(), 0, state.getLength(), StandardCharsets.US_ASCII);
        int left = Integer.parseInt(text.substring(22, 26));
        int right = Integer.parseInt(text.substring(49, 53));
        lift = Integer.parseInt(text.substring(74, 78));
        boolean turning = n % 200 >= 150;
        int hold = Math.max(-512, Math.min(512, 3 * (512 - lift)));
        byte[] command = command(150, turning ? -150 : 150, hold, n == 0 ? 1 : 0);
        wire.send(new DatagramPacket(command, command.length, vehicle));
        if (n % 100 == 0) {
          System.out.printf("encoders %4d %4d  lift %4d%n", left, right, lift);
        }
      }
      wire.receive(state); // the last command is an answer, too
      byte[] stop = command(0, 0, 0, 0);
      wire.send(new DatagramPacket(stop, stop.length, vehicle));
    }
    System.out.println("done: lift " + lift);
  }
}
