import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.Locale;

/**
 * Moves the gripper's arm over lockstep-tcp: every frame it gets, it answers with ten velocities.
 *
 * <p>usage: java LockstepTcp.java [PORT [FRAMES]] (default: 11235 600, on 127.0.0.1).
 * Byte table: docs/wires/lockstep-tcp.md. Big-endian, as Java's own streams are.
 */
public final class LockstepTcp {
  private static final int JOINTS = 10;

  public static void main(String[] args) throws IOException {
    int port = args.length > 0 ? Integer.parseInt(args[0]) : 11235;
    long frames = args.length > 1 ? Long.parseLong(args[1]) : 600;
    try (Socket link = new Socket("127.0.0.1", port)) {
      link.setTcpNoDelay(true);
      DataInputStream in = new DataInputStream(link.getInputStream());
      DataOutputStream out = new DataOutputStream(new BufferedOutputStream(link.getOutputStream()));
      float[] angle = new float[JOINTS]; // rad in [-pi, pi]
      for (long expected = 0; expected <= frames; expected++) {
        long frame = in.readLong();
        for (int i = 0; i < JOINTS; i++) angle[i] = in.readFloat();
        if (frame == 0) expected = 0; // the world was reset
        if (frame != expected) {
          throw new IOException("frame " + frame + " came where " + expected + " was due");
        }
        if (frame % 60 == 0) System.out.printf(Locale.ROOT, "frame %d  swivel %.3f rad%n", frame, angle[0]);
        if (frame == frames) break;
        out.writeFloat((float) (0.5 * Math.cos(frame / 60.0))); // rad/s; a frame is 1/60 s
        for (int i = 1; i < JOINTS; i++) out.writeFloat(0); // the others rest where they are
        out.flush(); // one segment a frame
      }
      System.out.printf(Locale.ROOT, "done: %d frames, swivel at %.3f rad%n", frames, angle[0]);
    }
  }
}
