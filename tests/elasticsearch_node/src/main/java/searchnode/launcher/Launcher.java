package searchnode.launcher;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/** Starts one Elasticsearch node with the settings given as KEY=VALUE arguments; SIGTERM or the end of its input closes it. */
public final class Launcher {
    private Launcher() {}

    public static void main(String[] arguments) throws Exception {
        Settings settings = parse(arguments);
        LogConfigurator.loadLog4jPlugins();
        LogConfigurator.configureESLogging();
        LogConfigurator.configureWithoutConfig(settings);
        Environment environment = new Environment(settings, Path.of(settings.get("path.home"), "config"));
        // The loader needs named modules: that is why the server jars are on the module path.
        PluginsLoader plugins = PluginsLoader.createPluginsLoader(
            PluginsLoader.loadModulesBundles(environment.modulesDir()),
            PluginsLoader.loadPluginsBundles(environment.pluginsDir()),
            Map.of());
        Node node = new Node(environment, plugins);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        while (System.in.read() >= 0) {
            // Nothing is expected on the standard input: its end means that the process that started the node is gone.
        }
        System.exit(0);
    }

    private static Settings parse(String[] arguments) {
        Settings.Builder settings = Settings.builder();
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        return settings.build();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (IOException failure) {
            failure.printStackTrace();
        }
    }
}
