package tether.telemetry;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.rmi.registry.LocateRegistry;

/**
 * A control proxy as it runs on a robot, cut down to its telemetry: each line of standard input is one XML message.
 *
 * <p>java tether.telemetry.SampleProxy 127.0.0.1:1099
 */
public final class SampleProxy {
    private SampleProxy() {}

    public static void main(String[] args) throws Exception {
        String[] address = args[0].split(":");
        DataCollector collector =
                (DataCollector) LocateRegistry.getRegistry(address[0], Integer.parseInt(address[1])).lookup("DataCollector");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            collector.send(line);
            System.out.println("sent");
        }
    }
}
