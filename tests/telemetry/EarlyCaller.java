import java.rmi.ConnectException;
import java.rmi.ConnectIOException;
import java.rmi.NotBoundException;
import java.rmi.registry.LocateRegistry;

/** Calls from before the bridge listens until it answers: "found", or "nothing is bound". */
public final class EarlyCaller {
    private EarlyCaller() {}

    private static boolean find(int port) throws Exception {
        try {
            LocateRegistry.getRegistry("127.0.0.1", port).lookup("DataCollector");
            System.out.println("found");
        } catch (NotBoundException e) {
            System.out.println("nothing is bound");
        } catch (ConnectException | ConnectIOException e) {
            return false; // it does not listen yet
        }
        return true;
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0].split(":")[1]);
        find(port); // loads half of Java
        System.out.println("calling");
        while (!find(port)) {
            Thread.onSpinWait();
        }
    }
}
