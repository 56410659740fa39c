// A controller for the ezphysics wire: swings every joint of the robot to and fro.
//
//   tether run ezphysics &
//   java clients/java/Ezphysics.java [host:port] [states]
//
// Waits for each state, prints a body now and then, and answers with a servo command for every joint.
import java.io.DataInputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.TreeSet;

public class Ezphysics {
  static final int LIMB = 2, JOINTAXIS = 3, TIMESTAMP = 5, AXIS_MOTOR = 3;

  static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static ByteBuffer receive(DataInputStream in) throws Exception {
    byte[] size = new byte[4];
    in.readFully(size);
    byte[] rest = new byte[littleEndian(size).getInt() - 4];
    in.readFully(rest);
    return littleEndian(rest); // begins with the number of packets
  }

  static byte[] motors(TreeSet<Integer> joints, float velocity, float maxTorque) {
    ByteBuffer message = littleEndian(new byte[8 + 40 * joints.size()]);
    message.putInt(message.capacity()).putInt(joints.size());
    for (int joint : joints) {
      message.putInt(AXIS_MOTOR).putInt(24).putInt(joint).putInt(0);
      for (int axis = 0; axis < 3; axis++) {
        message.putFloat(velocity).putFloat(maxTorque);
      }
    }
    return message.array();
  }

  public static void main(String[] args) throws Exception {
    String address = args.length > 0 ? args[0] : "127.0.0.1:5803";
    int colon = address.lastIndexOf(':'), step = 0;
    int states = args.length > 1 ? Integer.parseInt(args[1]) : 1000;
    try (Socket wire = new Socket(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)))) {
      wire.setTcpNoDelay(true);
      DataInputStream in = new DataInputStream(wire.getInputStream());
      for (int n = 0; n < states; n++) {
        ByteBuffer message = receive(in);
        TreeSet<Integer> joints = new TreeSet<>();
        float time = 0, height = Float.NaN;
        for (int packets = message.getInt(); packets > 0; packets--) {
          int type = message.getInt(), size = message.getInt(), object = message.getInt();
          int start = message.position() + 4; // after the index
          if (type == TIMESTAMP) {
            step = message.getInt(start);
            time = step * message.getFloat(start + 4);
          } else if (type == LIMB && object == 1) {
            height = message.getFloat(start + 8);
          } else if (type == JOINTAXIS) {
            joints.add(object);
          }
          message.position(start + size);
        }
        if (n % 100 == 0) {
          System.out.printf("t %7.3f s  body 1 at height %.3f m, %d joints%n", time, height, joints.size());
        }
        wire.getOutputStream().write(motors(joints, (float) (0.5 * Math.cos(2 * Math.PI * time)), 20));
      }
    }
    System.out.println("done: step " + step);
  }
}
