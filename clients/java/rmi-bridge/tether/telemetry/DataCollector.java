package tether.telemetry;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What a robot's control proxy calls: the name in the registry is "DataCollector". */
public interface DataCollector extends Remote {
    /**
     * Hands over one XML document with a MESSAGE. Returns once it is stored durably.
     *
     * @throws RemoteException with line, column and reason when the message was refused, or when it could not be
     *         stored; sending it again is safe, since a sample is stored once however often it comes
     */
    void send(String xml) throws RemoteException;
}
