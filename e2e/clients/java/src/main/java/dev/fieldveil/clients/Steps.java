package dev.fieldveil.clients;

import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** The order of the steps, and one line of JSON for each. */
final class Steps<C extends AutoCloseable> {
    static final String USER = "app";
    static final String REFUSED = "0A000";
    static final String SHORT = "INSERT INTO person (id, ssn) VALUES (?, ?)";
    static final String SSN_OF = "SELECT ssn FROM person WHERE id = ?";
    static final int FIRST_OF_BATCH = 100, LAST_OF_BATCH = 119, FIRST_OF_PREPARED = 200, LAST_OF_PREPARED = 209;

    interface Step<C> {
        void run(C connection) throws Exception;
    }

    interface Connect<C> {
        C open() throws Exception;
    }

    /** A value came back, and not the one that was to. */
    static final class Wrong extends Exception {
        Wrong(String what) {
            super(what);
        }
    }

    /** The driver has no such thing. */
    static final class Absent extends Exception {
        Absent(String why) {
            super(why);
        }
    }

    private final String client;
    private final Map<String, Step<C>> steps = new LinkedHashMap<>();

    Steps(String client) {
        this.client = client;
    }

    Steps<C> step(String name, Step<C> step) {
        steps.put(name, step);
        return this;
    }

    /** Runs the steps as they were given, each with a connection that the ones before left usable. */
    void run(Connect<C> connect) throws Exception {
        C connection = null;
        for (Map.Entry<String, Step<C>> each : steps.entrySet()) {
            try {
                if (connection == null) {
                    connection = connect.open();
                }
                each.getValue().run(connection);
                say(each.getKey(), true, "", "");
            } catch (Absent absent) {
                say(each.getKey(), null, "", absent.getMessage());
            } catch (Exception error) {
                say(each.getKey(), false, sqlState(error), detail(error));
                closeQuietly(connection);
                connection = null;
            }
        }
        closeQuietly(connection);
    }

    static void expect(String what, Object got, Object wanted) throws Wrong {
        if (!Objects.deepEquals(got, wanted)) {
            throw new Wrong(what + ": " + got + " instead of " + wanted);
        }
    }

    /** The server's code, wherever in the chain it is. */
    static String sqlState(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql.getSQLState();
            }
            // pgjdbc's own word for a description that contradicts what it declared: a violation of the protocol.
            if (cause instanceof IllegalArgumentException && String.valueOf(cause.getMessage()).startsWith("Can't change resolved type")) {
                return "08P01";
            }
        }
        return "";
    }

    /** What went wrong, with what is behind it: drivers wrap what TLS says. */
    private static String detail(Throwable error) {
        StringBuilder said = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String first = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
            said.append(said.isEmpty() ? "" : "; ").append(cause.getClass().getSimpleName()).append(": ").append(first);
        }
        return said.toString();
    }

    static String ssn(long id) {
        return "ssn-" + id;
    }

    private static void closeQuietly(AutoCloseable connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (Exception broken) {
            // It is given up anyway.
        }
    }

    private void say(String step, Boolean ok, String code, String detail) {
        String first = String.valueOf(detail).lines().findFirst().orElse("");
        Function<String, String> quoted = text -> '"' + text.replace("\\", "\\\\").replace("\"", "\\\"")
                .replace("\t", "\\t").replace("\r", "\\r") + '"';
        System.out.printf("{\"client\": %s, \"step\": %s, \"ok\": %s, \"code\": %s, \"detail\": %s}%n",
                quoted.apply(client), quoted.apply(step), ok, quoted.apply(code), quoted.apply(first));
        System.out.flush();
    }
}
