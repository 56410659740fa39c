package tether.telemetry;

import java.io.IOException;
import java.io.ObjectInputFilter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIClientSocketFactory;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * Takes telemetry over RMI and hands it to Tether over HTTP, whose answer says that it is stored durably, or why not.
 *
 * <p>java tether.telemetry.Bridge [--listen 127.0.0.1:1099] [--collector http://127.0.0.1:8080]
 *
 * <p>Only the JDK is needed. Registry and object share one port, on which nobody is answered before the object is bound. Arguments other than strings are refused before they are
 * made into objects.
 */
public final class Bridge implements DataCollector {
    private static final int LONGEST = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
    private final URI collector;

    private Bridge(URI collector) {
        this.collector = collector;
    }

    @Override
    public void send(String xml) throws RemoteException {
        if (xml == null || xml.length() > LONGEST) {
            throw new RemoteException("a message is at most " + LONGEST + " characters");
        }
        HttpRequest request = HttpRequest.newBuilder(collector)
                .timeout(PATIENCE)
                .header("Content-Type", "application/xml")
                .POST(HttpRequest.BodyPublishers.ofString(xml))
                .build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new RemoteException("Tether did not take the message: " + answer.body());
            }
            if (answer.body().contains("\"dropped_values\":")) {
                throw new RemoteException("Tether stored the message but for values that don't fit: " + answer.body());
            }
        } catch (IOException e) {
            throw new RemoteException("Tether did not take the message: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteException("interrupted", e);
        }
    }

    /** Callers wait, their connections made, until the name that they will look up is there. */
    private static final class Doorkeeper extends ServerSocket {
        private final CountDownLatch bound;

        Doorkeeper(int port, InetAddress host, CountDownLatch bound) throws IOException {
            super(port, 50, host);
            this.bound = bound;
        }

        @Override
        public Socket accept() throws IOException {
            try {
                bound.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            return super.accept();
        }
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    private static String option(String[] args, String name, String otherwise) {
        for (int i = 0; i + 1 < args.length; i++) {
            if (args[i].equals(name)) {
                return args[i + 1];
            }
        }
        return otherwise;
    }

    public static void main(String[] args) throws Exception {
        InetSocketAddress listen = address(option(args, "--listen", "127.0.0.1:1099"));
        URI collector = URI.create(option(args, "--collector", "http://127.0.0.1:8080") + "/telemetry");
        InetAddress host = listen.getAddress();
        System.setProperty("java.rmi.server.hostname", host.getHostAddress());
        CountDownLatch bound = new CountDownLatch(1);
        RMIServerSocketFactory server = port -> new Doorkeeper(port, host, bound);
        RMIClientSocketFactory plain = null;
        int port = listen.getPort();
        if (port == 0) {
            try (ServerSocket free = new ServerSocket(0, 1, host)) {
                port = free.getLocalPort();
            }
        }
        Registry registry = LocateRegistry.createRegistry(port, plain, server);
        ObjectInputFilter onlyStrings = info -> {
            Class<?> type = info.serialClass();
            return type == null || type == String.class ? ObjectInputFilter.Status.UNDECIDED
                                                        : ObjectInputFilter.Status.REJECTED;
        };
        Bridge bridge = new Bridge(collector);
        registry.rebind("DataCollector", UnicastRemoteObject.exportObject(bridge, port, plain, server, onlyStrings));
        bound.countDown();
        System.out.println("ready rmi=" + host.getHostAddress() + ":" + port);
        Thread.currentThread().join();
    }
}
