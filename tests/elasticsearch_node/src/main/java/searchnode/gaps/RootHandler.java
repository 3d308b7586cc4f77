package searchnode.gaps;

import java.util.List;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

/** GET and HEAD on "/": name and version of the node, which clients ask for first. */
final class RootHandler extends BaseRestHandler {
    private final String nodeName;
    private final String clusterName;

    RootHandler(Settings settings) {
        nodeName = settings.get("node.name", "node");
        clusterName = settings.get("cluster.name", "elasticsearch");
    }

    @Override
    public String getName() {
        return "root";
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        return channel -> {
            XContentBuilder body = channel.newBuilder().startObject();
            body.field("name", nodeName).field("cluster_name", clusterName);
            body.startObject("version").field("number", Build.current().version()).endObject();
            channel.sendResponse(new RestResponse(RestStatus.OK, body.field("tagline", "You Know, for Search").endObject()));
        };
    }
}
